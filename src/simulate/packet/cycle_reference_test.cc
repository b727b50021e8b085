#include "simulate/packet/cycle_reference_for_tests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "fabric/routing/engines/engine.h"
#include "fabric/topology/generate.h"
#include "simulate/packet/hosts.h"
#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/packet/simulate.h"
#include "simulate/traffic/pattern.h"

/// The engine and a textbook's router, cycle by cycle, on the same networks: they must agree on how much traffic gets
/// through. Both have packets of 33 whole flits, links of one flit in 16 ns, no PCI Express to speak of.
namespace holdfast::simulate {
namespace {

cycles::Network in_cycles(const fabric::Fabric& fabric, const fabric::Forwarding& tables,
                          const cycles::Configuration& configuration) {
  const Hosts hosts(fabric);
  std::vector<std::vector<cycles::End>> cables(tables.rows());
  std::vector<std::vector<int>> routes(tables.rows());
  for (std::uint32_t row = 0; row < tables.rows(); ++row) {
    const fabric::NodeId node = tables.switch_at(row);
    cables[row].resize(fabric.node(node).port_count);
    for (std::uint32_t number = 1; number <= fabric.node(node).port_count; ++number) {
      const fabric::PortId peer = fabric.peer(fabric.port_of(node, static_cast<std::uint8_t>(number)));
      if (peer == fabric::none) continue;
      const fabric::NodeId other = fabric.port(peer).node;
      cables[row][number - 1] =
          fabric.is_switch(other)
              ? cycles::End{static_cast<int>(tables.row_of(other)), fabric.number_of(peer) - 1}
              : cycles::End{-1, static_cast<int>(std::find(hosts.ports.begin(), hosts.ports.end(), peer) -
                                                 hosts.ports.begin())};
    }
    for (const fabric::Lid lid : hosts.lids) routes[row].push_back(tables.out_port(row, lid) - 1);
  }
  return {configuration, std::move(cables), std::move(routes), static_cast<int>(hosts.count()), 5};
}

Parameters same_model(const cycles::Configuration& configuration) {
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  parameters = settle(parameters, {});
  parameters.mtu = static_cast<std::uint32_t>(configuration.packet) * flit_bytes - header_bytes;
  parameters.crossbar_speedup = static_cast<std::uint32_t>(configuration.speedup) * 100;
  parameters.switch_latency_ns = configuration.latency * 16;
  parameters.cable_length = 0;
  parameters.hiccup_ns = 0;
  parameters.pcie_generation = 5;
  parameters.pcie_lanes = 32;
  return parameters;
}

/// Payload that arrives at a host, relative to what its link carries.
double in_events(const fabric::Fabric& fabric, const fabric::Forwarding& tables, const Parameters& parameters,
                 double load, double& latency_ns) {
  TrafficSpec spec = parse_traffic("uniform").value();
  spec.load = load;
  auto traffic = make_traffic(spec, fabric, parameters, 9).value();
  Control control;
  control.limit = ps_per_ms;
  control.until_steady = false;
  const Record record = simulate(fabric, tables, parameters, *traffic, control).value();
  latency_ns = record.message_latency.mean / 1e3;
  const double full = 4e9 * parameters.mtu / (parameters.mtu + header_bytes);
  return record.host_mean_bytes_per_s / full;
}

struct Case {
  const char* topology;
  const char* engine;
  int speedup;
};

TEST(CycleReference, AgreesOnSaturationThroughput) {
  for (const Case& is :
       {Case{"tree(8,1)", "minhop", 1}, Case{"tree(16,1)", "minhop", 1}, Case{"tree(16,1)", "minhop", 2},
        Case{"tree(4,2)", "ftree", 1}, Case{"tree(4,2)", "ftree", 2}, Case{"tree(3,3)", "ftree", 1},
        Case{"mesh(3,3) hosts=18", "dor", 1}, Case{"mesh(3,3) hosts=18", "dor", 2}}) {
    SCOPED_TRACE(std::string(is.topology) + " speedup " + std::to_string(is.speedup));
    const fabric::Fabric fabric = fabric::generate(is.topology).value();
    const fabric::Forwarding tables = fabric::route(fabric, is.engine).value();
    cycles::Configuration configuration;
    configuration.speedup = is.speedup;
    const double expected = in_cycles(fabric, tables, configuration).accepted(5'000, 25'000);
    double latency = 0;
    const double got = in_events(fabric, tables, same_model(configuration), 1, latency);
    std::printf("%-22s speedup %d: cycles %.4f, events %.4f of the link rate (%+.1f %%)\n", is.topology, is.speedup,
                expected, got, (got / expected - 1) * 100);
    EXPECT_NEAR(got / expected, 1, 0.04);
  }
}

/// Below saturation both carry what is offered, and a packet takes as long, within 5 % (the cycle-based one draws its
/// arrivals a packet at a time and in whole cycles).
TEST(CycleReference, AgreesOnLatencyBelowSaturation) {
  for (const double load : {0.1, 0.3}) {
    const fabric::Fabric fabric = fabric::generate("tree(4,2)").value();
    const fabric::Forwarding tables = fabric::route(fabric, "ftree").value();
    cycles::Configuration configuration;
    configuration.load = load;
    cycles::Network network = in_cycles(fabric, tables, configuration);
    const double carried = network.accepted(0, 40'000);
    double latency_ns = 0;
    const double got = in_events(fabric, tables, same_model(configuration), load, latency_ns);
    // From creation to memory: the fetch and the delivery over PCI Express of 0.5 ns a flit come on top.
    const double pcie_ns = 2 * 33 * 0.508;
    std::printf("load %.1f: carried %.4f and %.4f, latency %.0f and %.0f ns\n", load, carried, got,
                network.latency() * 16, latency_ns - pcie_ns);
    EXPECT_NEAR(got, load, 0.02);
    EXPECT_NEAR(carried, load, 0.02);
    EXPECT_NEAR((latency_ns - pcie_ns) / (network.latency() * 16), 1, 0.05);
  }
}

}  // namespace
}  // namespace holdfast::simulate
