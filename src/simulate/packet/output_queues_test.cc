#include <gtest/gtest.h>

#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/packet/simulate.h"
#include "simulate/traffic/pattern.h"

/// What a queue for every output changes. That it does so to the picosecond is network_test.cc's.
namespace holdfast::simulate {
namespace {

Parameters with_queues(std::uint32_t sends) {
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  parameters.hiccup_ns = 0;
  parameters.pcie_generation = 4;
  parameters.pcie_lanes = 8;
  parameters.crossbar_speedup = 100;
  parameters.input_queues = InputQueues::output;
  parameters.input_sends = sends;
  return parameters;
}

/// Of what a host's link carries.
double saturation(const Parameters& parameters, std::uint32_t ports) {
  const sample::Net net = sample::crossbar(ports);
  auto traffic = make_traffic(parse_traffic("uniform").value(), net.fabric, parameters, 7).value();
  Control control;
  control.limit = 3 * ps_per_ms;
  control.until_steady = false;
  return simulate(net.fabric, net.tables, parameters, *traffic, control).value().host_mean_bytes_per_s /
         (4e9 * 2048 / 2074);
}

/// First in, first out, an input-queued crossbar ends at 0.586 of its links (closed_forms_test.cc). With a queue for
/// every output, a maximal matching and buffers for many packets it carries nearly all.
TEST(OutputQueues, NoHeadBlocksWhatGoesElsewhere) {
  for (const std::uint32_t sends : {1U, 0U}) {
    Parameters parameters = with_queues(sends);
    parameters.input_buffer = 128 * 33;
    EXPECT_GT(saturation(parameters, 16), 0.93) << "sends " << sends;
    parameters.input_queues = InputQueues::lane;
    EXPECT_LT(saturation(parameters, 16), 0.65);
  }
}

/// A buffer of four packets cannot hold one for each of sixteen outputs: queues by output gain, but less.
TEST(OutputQueues, AreOnlyAsGoodAsTheBufferIsLarge) {
  Parameters small = with_queues(0);
  small.input_buffer = 128;
  Parameters large = with_queues(0);
  large.input_buffer = 1024;
  const double few = saturation(small, 16);
  EXPECT_GT(few, 0.65);
  EXPECT_GT(saturation(large, 16), few + 0.05);
}

/// One host at a fast link feeds four at slow ones over one switch. One send at a time serves the four in turn; several
/// at once carry several of them.
TEST(OutputQueues, SendsOfOneBufferAreBounded) {
  sample::Net net;
  const fabric::NodeId hub = net.fabric.add_node(fabric::NodeKind::switch_, 36, "hub");
  const auto host = [&](const char* name, fabric::LinkRate rate) {
    net.fabric.connect(net.fabric.add_node(fabric::NodeKind::adapter, 1, name), hub, rate);
  };
  host("fast", {12, fabric::LaneSpeed::qdr});
  for (const char* name : {"a", "b", "c", "d"}) host(name, {1, fabric::LaneSpeed::qdr});
  net.fabric.assign_lids();
  sample::route_shortest(net, random::Stream(1));
  const auto completion = [&](std::uint32_t sends) {
    Parameters parameters = with_queues(sends);
    parameters.pcie_lanes = 32;
    parameters.input_buffer = 33 * 40;
    parameters.output_buffer = 33;
    sample::ListedTraffic traffic(5);
    for (std::uint32_t i = 0; i < 80; ++i) traffic.add(0, {1 + i % 4, i, 2048, 0});
    return simulate(net.fabric, net.tables, parameters, traffic, {}).value().completion_ps;
  };
  const Time packet = 2'074'000;  // on a slow link, of 1 GB/s
  const Time all_at_once = completion(0);
  EXPECT_GE(all_at_once, 20 * packet);
  EXPECT_LT(all_at_once, 22 * packet);
  EXPECT_EQ(completion(4), all_at_once) << "there are four outputs";
  EXPECT_GE(completion(1), all_at_once);
}

/// The same circle of four switches deadlocks with either kind of queue, and is described.
TEST(OutputQueues, DeadlocksAreFound) {
  sample::Net net = sample::chain(4, 3, true);
  sample::route_clockwise(net);
  Parameters parameters = with_queues(0);
  parameters.input_buffer = parameters.output_buffer = 40;
  sample::ListedTraffic traffic(12);
  for (std::uint32_t source = 0; source < 12; ++source)
    for (std::uint32_t i = 0; i < 20; ++i) traffic.add(source, {(source + 6) % 12, i, 2048, 0});
  const Record record = simulate(net.fabric, net.tables, parameters, traffic, {}).value();
  EXPECT_EQ(record.ending, Ending::deadlock);
  ASSERT_EQ(record.circle.size(), 4U);
  for (const BlockedPort& port : record.circle) EXPECT_GT(port.packets, 0U);
}

/// A deadlock is found while the rest of the network goes on, and what only waits for a while is none.
TEST(OutputQueues, ADeadlockIsFoundWhileOthersSend) {
  sample::Net net = sample::chain(4, 3, true);
  sample::route_clockwise(net);
  Parameters parameters = with_queues(1);
  parameters.input_buffer = parameters.output_buffer = 40;
  parameters.deadlock_check_ns = 20'000;
  const auto run = [&](bool circle) {
    sample::ListedTraffic traffic(12);
    for (std::uint32_t source = 0; source < 12; ++source)
      for (std::uint32_t i = 0; i < 400; ++i) {
        const bool far = circle && source % 3 == 0 && i < 20;
        traffic.add(source, {far ? (source + 6) % 12 : source / 3 * 3 + (source + 1) % 3, i, 2048, 0});
      }
    return simulate(net.fabric, net.tables, parameters, traffic, {}).value();
  };
  EXPECT_EQ(run(false).ending, Ending::complete);
  const Record record = run(true);
  EXPECT_EQ(record.ending, Ending::deadlock);
  EXPECT_LT(record.end_ps, 400 * 518'500) << "before the neighbours had done";
}

}  // namespace
}  // namespace holdfast::simulate
