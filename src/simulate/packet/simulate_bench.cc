#include "simulate/packet/simulate.h"

#include <benchmark/benchmark.h>

#include "core/random/stream.h"
#include "simulate/packet/hosts.h"
#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/traffic/pattern.h"

/// How many packets cross a link in a second of computing, and how many bytes a host costs, from 64 to 10,000 hosts:
/// uniform random traffic at full load on k-ary 3-trees with the whole model on, and the exchange of the paper.
namespace holdfast::simulate {
namespace {

/// A k-ary 3-tree: hosts, then leaf, middle and root switches; packets go up by their destination's digits (D-Mod-K).
sample::Net tree(std::uint32_t k) {
  sample::Net net;
  std::vector<fabric::NodeId> level[3];
  for (auto& row : level)
    for (std::uint32_t i = 0; i < k * k; ++i)
      row.push_back(net.fabric.add_node(fabric::NodeKind::switch_, static_cast<std::uint8_t>(2 * k),
                                        "s" + std::to_string(&row - level) + "-" + std::to_string(i)));
  for (std::uint32_t host = 0; host < k * k * k; ++host)
    net.fabric.connect(net.fabric.add_node(fabric::NodeKind::adapter, 1, "h" + std::to_string(host)),
                       level[0][host / k]);
  // Leaf (a, b) joins middle (a, c) for all c; middle (a, c) joins root (c, d) for all d.
  for (std::uint32_t a = 0; a < k; ++a)
    for (std::uint32_t b = 0; b < k; ++b)
      for (std::uint32_t c = 0; c < k; ++c) {
        net.fabric.add_link(net.fabric.port_of(level[0][a * k + b], static_cast<std::uint8_t>(k + 1 + c)),
                            net.fabric.port_of(level[1][a * k + c], static_cast<std::uint8_t>(b + 1)));
        net.fabric.add_link(net.fabric.port_of(level[1][a * k + b], static_cast<std::uint8_t>(k + 1 + c)),
                            net.fabric.port_of(level[2][b * k + c], static_cast<std::uint8_t>(a + 1)));
      }
  net.fabric.assign_lids();
  net.tables = fabric::Forwarding(net.fabric);
  const Hosts hosts(net.fabric);
  for (std::uint32_t host = 0; host < hosts.count(); ++host) {
    const std::uint32_t own = host % k, b = host / k % k, a = host / k / k;
    for (std::uint32_t i = 0; i < k * k; ++i) {
      auto set = [&](fabric::NodeId node, std::uint32_t port) {
        net.tables.set_out_port(net.tables.row_of(node), hosts.lids[host], static_cast<std::uint8_t>(port));
      };
      set(level[0][i], i == a * k + b ? own + 1 : k + 1 + own);
      set(level[1][i], i / k == a ? b + 1 : k + 1 + b);
      set(level[2][i], a + 1);
    }
  }
  return net;
}

void run(benchmark::State& state, const char* pattern, std::uint64_t packet_hops) {
  const sample::Net net = tree(static_cast<std::uint32_t>(state.range(0)));
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  std::uint64_t hops = 0;
  Record record;
  for (auto _ : state) {
    auto traffic = make_traffic(parse_traffic(pattern).value(), net.fabric, parameters, 1).value();
    Control control;
    control.packet_hops = packet_hops;
    control.until_steady = false;
    record = simulate(net.fabric, net.tables, parameters, *traffic, control).value();
    hops += record.packet_hops;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(hops));
  state.counters["hosts"] = record.hosts;
  state.counters["bytes_a_host"] = static_cast<double>(record.memory_bytes) / record.hosts;
  state.counters["events_a_hop"] = static_cast<double>(record.events) / static_cast<double>(record.packet_hops);
  state.counters["GB_s_a_host"] = record.host_mean_bytes_per_s / 1e9;
}

void uniform(benchmark::State& state) {
  run(state, "uniform", 2'000'000);
}
BENCHMARK(uniform)->Arg(4)->Arg(8)->Arg(10)->Arg(13)->Arg(14)->Arg(18)->Arg(22)->Unit(benchmark::kMillisecond);

void light(benchmark::State& state) {
  run(state, "uniform load=0.3", 2'000'000);
}
BENCHMARK(light)->Arg(13)->Unit(benchmark::kMillisecond);

void exchange(benchmark::State& state) {
  run(state, "exchange", ~std::uint64_t{0});
}
BENCHMARK(exchange)->Arg(14)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace holdfast::simulate

BENCHMARK_MAIN();
