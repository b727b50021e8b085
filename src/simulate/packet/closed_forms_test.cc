#include <gtest/gtest.h>

#include <cmath>

#include "fabric/topology/generate.h"
#include "simulate/packet/pcie.h"
#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/packet/simulate.h"
#include "simulate/traffic/pattern.h"

/// What pen and paper say of simple networks.
namespace holdfast::simulate {
namespace {

Parameters defaults() {
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  return settle(parameters, {});  // as QDR, whatever the network has
}

TEST(ClosedForms, PacesOfLinksAndSlots) {
  using fabric::LaneSpeed;
  EXPECT_EQ(link_pace({4, LaneSpeed::sdr}).flit_ps, 64'000);
  EXPECT_EQ(link_pace({4, LaneSpeed::qdr}).flit_ps, 16'000);
  EXPECT_EQ(link_pace({4, LaneSpeed::fdr10}).flit_ps, 12'800);
  EXPECT_EQ(link_pace({4, LaneSpeed::fdr}).flit_ps, 9'387);  // 9,386.67 rounded up
  EXPECT_EQ(link_pace({4, LaneSpeed::edr}).flit_ps, 5'120);
  EXPECT_EQ(link_pace({4, LaneSpeed::ndr}).flit_ps, 1'280);
  EXPECT_EQ(link_pace({4, LaneSpeed::xdr}).flit_ps, 640);
  EXPECT_EQ(pcie_pace(2, 8).flit_ps, 16'000);
  EXPECT_EQ(pcie_pace(3, 8).flit_ps, 8'125);
  EXPECT_EQ(pcie_pace(6, 16).flit_ps, 543);  // 512 bits at 16 x 59 Gbit/s, 542.4 rounded up
  EXPECT_EQ(link_pace({4, LaneSpeed::qdr}).of(2074), 518'500);
}

TEST(ClosedForms, AHiccupStopsWork) {
  const HiccupClock clock(100, 10);
  EXPECT_EQ(clock.after(10, 90), 100);
  EXPECT_EQ(clock.after(0, 90), 100);
  EXPECT_EQ(clock.after(10, 91), 111);
  EXPECT_EQ(clock.after(55, 45), 100);
  EXPECT_EQ(clock.after(103, 1), 111);
  EXPECT_EQ(clock.after(0, 900), 1000);
  EXPECT_EQ(HiccupClock(100, 0).after(7, 13), 20);
}

/// A full packet through an idle network of 1 to 5 switches: fetched whole over PCI Express, then for each switch wire,
/// first flit, latency and the first flit through the crossbar; wire, the packet itself, and PCI Express to memory.
void expect_zero_load_latency(std::uint32_t slowdown) {
  Parameters parameters = defaults();
  parameters.hiccup_ns = 0;
  parameters.link_slowdown = slowdown;
  for (std::uint32_t switches = 1; switches <= 5; ++switches) {
    const sample::Net net = sample::chain(switches, 2);
    sample::ListedTraffic traffic(2 * switches);
    traffic.add(0, {2 * switches - 1, 0, 2048, 0});
    const Record record = simulate(net.fabric, net.tables, parameters, traffic).value();
    const Time wire = 42'700;  // 7 m at 6.1 ns
    const Time flit = Time{16'000} * slowdown;
    const Time cross = (flit * 100 + 149) / 150;
    const Time packet = 518'500;  // over PCI Express, which is as fast as ever
    EXPECT_EQ(record.completion_ps,
              packet + switches * (wire + flit + 100'000 + cross) + wire + packet * slowdown + packet);
    EXPECT_EQ(record.packet_hops, switches + 1);
  }
}

TEST(ClosedForms, ZeroLoadLatency) {
  expect_zero_load_latency(1);
}

TEST(ClosedForms, ZeroLoadLatencyOfSlowerLinks) {
  expect_zero_load_latency(32);
  expect_zero_load_latency(1'000);
}

/// Two hosts back to back through a switch, endlessly: PCI Express with its hiccup is the slowest part, 3.6 GB/s of
/// wire bytes, of which 2,048 of 2,074 are payload.
TEST(ClosedForms, OneStreamGetsWhatPciExpressAllows) {
  const sample::Net net = sample::crossbar(2);
  const Parameters parameters = defaults();
  auto traffic = make_traffic(parse_traffic("permutation").value(), net.fabric, parameters, 1).value();
  Control control;
  control.limit = 5 * ps_per_ms;
  control.until_steady = false;
  const Record record = simulate(net.fabric, net.tables, parameters, *traffic, control).value();
  EXPECT_NEAR(record.host_mean_bytes_per_s / (3.6e9 * 2048 / 2074), 1, 0.001);
}

/// Without the hiccup the link itself is the limit, and no host ever gets more.
TEST(ClosedForms, NoMoreThanTheWireCarries) {
  Parameters parameters = defaults();
  parameters.hiccup_ns = 0;
  parameters.pcie_generation = 3;
  const sample::Net net = sample::crossbar(8);
  for (const char* pattern : {"permutation", "uniform", "exchange messages=5000", "hotspot share=1"}) {
    auto traffic = make_traffic(parse_traffic(pattern).value(), net.fabric, parameters, 1).value();
    Control control;
    control.limit = 3 * ps_per_ms;
    control.until_steady = false;
    const Record record = simulate(net.fabric, net.tables, parameters, *traffic, control).value();
    EXPECT_LE(record.host_most_bytes_per_s, 4e9 * 2048 / 2074 * 1.001) << pattern;
    if (std::string_view(pattern) == "permutation") {
      EXPECT_GT(record.host_least_bytes_per_s, 4e9 * 2048 / 2074 * 0.999);
    }
  }
}

/// Incast: n senders share the receiver's rate, evenly, and it is used fully.
TEST(ClosedForms, IncastIsFairAndFull) {
  Parameters parameters = defaults();
  parameters.hiccup_ns = 0;
  for (const std::uint32_t senders : {2U, 5U, 17U}) {
    const sample::Net net = sample::crossbar(senders + 1);
    sample::ListedTraffic traffic(senders + 1);
    for (std::uint32_t host = 1; host <= senders; ++host)
      for (int i = 0; i < 200; ++i) traffic.add(host, {0, host, 2048, 0});
    std::vector<Delivery> deliveries;
    Control control;
    control.deliveries = &deliveries;
    const Record record = simulate(net.fabric, net.tables, parameters, traffic, control).value();
    const Time busy = static_cast<Time>(senders) * 200 * 518'500;
    EXPECT_GE(record.completion_ps, busy);
    EXPECT_LE(record.completion_ps, busy + 3 * ps_per_us);
    std::vector<int> got(senders + 1);  // half way through, everyone has had half of its own
    for (const Delivery& delivery : deliveries) got[delivery.source] += delivery.at < busy / 2 ? 1 : 0;
    for (std::uint32_t host = 1; host <= senders; ++host) EXPECT_NEAR(got[host], 100, 2);
  }
}

/// Saturated crossbar with first-in-first-out inputs and uniform traffic: M. Karol, M. Hluchyj and S. Morgan, "Input
/// Versus Output Queueing on a Space-Division Packet Switch", IEEE Trans. Commun. 35(12), 1987, table I gives 0.655,
/// 0.618 and 0.586 for 4, 8 and very many ports, in slots of time. That needs a crossbar as fast as the links, where
/// the output buffer is of no use, no latency, and adapters that are not the limit. Packets here are not in step, which
/// moves the value by a few per cent; with a faster crossbar it must rise.
TEST(ClosedForms, HeadOfLineBlockingLimitsASaturatedCrossbar) {
  Parameters parameters = defaults();
  parameters.hiccup_ns = 0;
  parameters.pcie_generation = 4;
  parameters.crossbar_speedup = 100;
  parameters.switch_latency_ns = 0;
  parameters.cable_length = 0;
  auto throughput = [&](std::uint32_t ports) {
    const sample::Net net = sample::crossbar(ports);
    auto traffic = make_traffic(parse_traffic("uniform").value(), net.fabric, parameters, 7).value();
    Control control;
    control.limit = 5 * ps_per_ms;
    control.until_steady = false;
    return simulate(net.fabric, net.tables, parameters, *traffic, control).value().host_mean_bytes_per_s /
           (4e9 * 2048 / 2074);
  };
  EXPECT_NEAR(throughput(32), 0.586, 0.04);
  EXPECT_GT(throughput(4), throughput(32));
  parameters.crossbar_speedup = 200;
  EXPECT_GT(throughput(32), 0.7);
}

/// One stream through two switches: what a link of each generation carries with the parts of its time, and with buffers
/// of the QDR age, which are empty before credits come back.
TEST(ClosedForms, PartsOfALinksGenerationKeepItBusy) {
  for (const char* speed : {"QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"}) {
    sample::Net net{fabric::generate(std::string("mesh(2) hosts=2 rate=4x") + speed).value(), {}};
    sample::route_shortest(net, random::Stream(1));
    const auto rate = fabric::find_rate(std::string("4x") + speed).value();
    const double most = 64e12 / static_cast<double>(link_pace(rate).flit_ps) * 2048 / 2074;
    const auto share = [&](std::uint32_t input, std::uint32_t output) {
      Parameters parameters;
      parameters_table().apply_defaults(parameters);
      parameters.input_buffer = input;
      parameters.output_buffer = output;
      auto traffic = make_traffic(parse_traffic("permutation").value(), net.fabric, parameters, 1).value();
      Control control;
      control.limit = ps_per_ms / 2;
      control.until_steady = false;
      return simulate(net.fabric, net.tables, parameters, *traffic, control).value().host_mean_bytes_per_s / most;
    };
    EXPECT_GT(share(0, 0), 0.85) << speed;
    if (rate.speed >= fabric::LaneSpeed::ndr) {
      EXPECT_LT(share(128, 78), 0.7) << speed;
    }
  }
}

/// M/D/1: Poisson packets from very many hosts to one; the mean wait for the last link is rho / (2 (1 - rho)) packet
/// times (Pollaczek and Khinchine). Each source sends far less than its own link carries, so that waiting elsewhere is
/// small: 31 sources at rho / 31 each make every source's own queue wait rho / 31 / 2 or so.
TEST(ClosedForms, WaitingOfAnMD1Queue) {
  Parameters parameters = defaults();
  parameters.hiccup_ns = 0;
  parameters.pcie_generation = 5;
  parameters.pcie_lanes = 32;
  parameters.crossbar_speedup = 1000;  // so that only the last link queues
  const std::uint32_t sources = 31;
  const sample::Net net = sample::crossbar(sources + 1);
  for (const double load : {0.3, 0.6}) {
    auto mean = [&](double rho) {
      TrafficSpec spec = parse_traffic("hotspot share=1 target=0").value();
      spec.load = rho / sources;
      spec.messages = 2000;
      auto traffic = make_traffic(spec, net.fabric, parameters, 3).value();
      return simulate(net.fabric, net.tables, parameters, *traffic).value().packet_latency.mean;
    };
    const double wait = (mean(load) - mean(0.001)) / 518'500;
    EXPECT_NEAR(wait / (load / (2 * (1 - load))), 1, 0.08) << "load " << load;
  }
}

TEST(ClosedForms, ARingOnOneLaneDeadlocksAndTheCircleIsNamed) {
  sample::Net net = sample::chain(4, 2, true);
  sample::route_clockwise(net);
  Parameters parameters = defaults();
  auto traffic = make_traffic(parse_traffic("uniform").value(), net.fabric, parameters, 1).value();
  const Record record = simulate(net.fabric, net.tables, parameters, *traffic).value();
  ASSERT_EQ(record.ending, Ending::deadlock);
  ASSERT_EQ(record.circle.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ((record.circle[i].node[1] - '0' + 1) % 4, record.circle[(i + 1) % 4].node[1] - '0');
  EXPECT_GE(record.ports.blocked + record.ports.sending, 4U);  // last packets may still be on the links
  EXPECT_NE(to_text(record).find("DEADLOCK"), std::string::npos);

  parameters.hoq_life = 4;  // 65 us: packets are dropped, and the network goes on
  auto again = make_traffic(parse_traffic("uniform").value(), net.fabric, parameters, 1).value();
  Control control;
  control.limit = 5 * ps_per_ms;
  control.until_steady = false;
  const Record dissolved = simulate(net.fabric, net.tables, parameters, *again, control).value();
  EXPECT_EQ(dissolved.ending, Ending::limit);
  EXPECT_GT(dissolved.dropped_lifetime, 0U);
  EXPECT_GT(dissolved.packets_delivered, record.packets_delivered);
  EXPECT_GT(dissolved.deadlocks_seen, 0U);
}

TEST(ClosedForms, SteadyStateEndsAnInfiniteRunAndOneSeedGivesTheSameRecord) {
  const sample::Net net = sample::chain(3, 4);
  const Parameters parameters = defaults();
  auto run = [&](std::uint64_t seed) {
    auto traffic = make_traffic(parse_traffic("uniform load=0.5").value(), net.fabric, parameters, seed).value();
    return simulate(net.fabric, net.tables, parameters, *traffic).value();
  };
  const Record one = run(1);
  EXPECT_EQ(one.ending, Ending::steady);
  EXPECT_GE(one.steady_share, 0.99);
  EXPECT_EQ(to_text(one), to_text(run(1)));
  EXPECT_NE(to_text(one), to_text(run(2)));
}

}  // namespace
}  // namespace holdfast::simulate
