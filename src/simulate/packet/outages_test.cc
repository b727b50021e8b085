#include "simulate/packet/outages.h"

#include <gtest/gtest.h>

#include "core/fault/grammar.h"
#include "simulate/packet/hosts.h"
#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/packet/simulate.h"

/// From faults to a timeline, and the subnet manager's part in it.
namespace holdfast::simulate {
namespace {

/// Two leaves with two hosts each, joined by two spines.
sample::Net square() {
  sample::Net net;
  std::vector<fabric::NodeId> leaves, spines;
  for (const char* name : {"leaf-0", "leaf-1"})
    leaves.push_back(net.fabric.add_node(fabric::NodeKind::switch_, 8, name));
  for (const char* name : {"spine-0", "spine-1"})
    spines.push_back(net.fabric.add_node(fabric::NodeKind::switch_, 8, name));
  for (const fabric::NodeId leaf : leaves)
    for (const fabric::NodeId spine : spines) net.fabric.connect(leaf, spine);
  for (int i = 0; i < 4; ++i)
    net.fabric.connect(net.fabric.add_node(fabric::NodeKind::adapter, 1, "h" + std::to_string(i)), leaves[i / 2U]);
  net.fabric.assign_lids();
  sample::route_shortest(net, random::Stream(1));
  return net;
}

Result<fabric::Forwarding> shortest(const fabric::Fabric& fabric) {
  sample::Net net;
  net.fabric = fabric;
  sample::route_shortest(net, random::Stream(2));
  return net.tables;
}

Result<Outages> plan(const sample::Net& net, std::string_view faults, OutageRules rules = {},
                     const SubnetManager& manager = {}, const Route& route = shortest) {
  return plan_outages(net.fabric, net.tables, fault::parse(faults).value(), rules, manager, route);
}

TEST(Outages, APartFailsAndComesBack) {
  const sample::Net net = square();
  const auto planned =
      plan(net, "fail-link link leaf-0/1 time 1ms for 2ms; fail-switch switch spine-1 time 5ms for 1ms", {}, {}, {});
  ASSERT_TRUE(planned.ok()) << planned.status().wrong();
  const Timeline& timeline = planned.value().timeline;
  ASSERT_EQ(timeline.outages.size(), 3U);
  EXPECT_EQ(timeline.outages[0].down, ps_per_ms);
  EXPECT_EQ(timeline.outages[0].up, 3 * ps_per_ms);
  EXPECT_EQ(timeline.outages[1].down, 5 * ps_per_ms);
  EXPECT_EQ(timeline.outages[2].up, 6 * ps_per_ms);
  ASSERT_EQ(timeline.writes.size(), 1U);  // the switch forgets its tables, and nobody writes new ones
  EXPECT_EQ(timeline.writes[0].tables, nullptr);
  EXPECT_TRUE(timeline.paths.empty());
}

TEST(Outages, ALinkGetsSlowAndFastAgain) {
  const sample::Net net = square();
  const auto planned = plan(net, "slow-link 1/4 link leaf-0/1 time 1ms for 2ms; slow-link 2/3 link leaf-0/1");
  ASSERT_TRUE(planned.ok()) << planned.status().wrong();
  const Timeline& timeline = planned.value().timeline;
  EXPECT_TRUE(timeline.outages.empty());
  EXPECT_EQ(planned.value().rounds, 0U);  // no engine looks at rates
  ASSERT_EQ(timeline.slow.size(), 2U);
  EXPECT_EQ(timeline.slow[0].from, ps_per_ms);
  EXPECT_EQ(timeline.slow[0].to, 3 * ps_per_ms);
  EXPECT_EQ(timeline.slow[1].from, 0);
  EXPECT_EQ(timeline.slow[1].to, never);
  // The slower one holds: 16 ns for 64 bytes at QDR, 24 from the start, 64 while the other is there.
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  const auto changes = rate_changes(timeline, net.fabric, parameters);
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].pace.flit_ps, 24'000);
  EXPECT_EQ(changes[1].pace.flit_ps, 64'000);
  EXPECT_EQ(changes[1].at, ps_per_ms);
  EXPECT_EQ(changes[2].pace.flit_ps, 24'000);
  EXPECT_TRUE(strikes_during_run(fault::parse("slow-link 1/2 link leaf-0/1").value().front(), 0));
  EXPECT_EQ(planned.value().steps.size(), 3U);
}

TEST(Outages, ALinkIsNeverSlowerThanAnyThatIsSimulated) {
  const sample::Net net = square();
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  const auto checked = [&](std::string_view faults) {
    return check(plan(net, faults).value().timeline, net.fabric, net.tables, parameters);
  };
  EXPECT_TRUE(checked("slow-link 1/160000 link leaf-0/1").ok());
  EXPECT_NE(checked("slow-link 1/160001 link leaf-0/1").status().wrong().find("slower than any"), std::string::npos);
  EXPECT_NE(checked("slow-link 1/18446744073709551615 link leaf-0/1").status().wrong().find("numbers above"),
            std::string::npos);
}

/// Traps and sweeps: when the manager begins, and when each switch has its tables.
TEST(Outages, TheSubnetManagerNoticesComputesAndWrites) {
  const sample::Net net = square();
  SubnetManager manager;
  manager.trap = 100 * ps_per_us;
  manager.compute = ps_per_ms;
  manager.write = 10 * ps_per_us;
  for (const Time sweep : {Time{0}, 10 * ps_per_ms}) {
    manager.sweep = sweep;
    const auto planned = plan(net, "fail-link link leaf-0/1 time 1ms", {}, manager);
    ASSERT_TRUE(planned.ok());
    const Outages& outages = planned.value();
    const Time begin = sweep == 0 ? ps_per_ms + 100 * ps_per_us : 10 * ps_per_ms;
    ASSERT_FALSE(outages.timeline.writes.empty());
    Time at = begin + ps_per_ms;
    for (const Timeline::Write& write : outages.timeline.writes) EXPECT_EQ(write.at, at += 10 * ps_per_us);
    ASSERT_EQ(outages.timeline.paths.size(), 1U);
    EXPECT_EQ(outages.timeline.paths[0].at, at);
    EXPECT_EQ(outages.unrouted, at - ps_per_ms);
    EXPECT_EQ(outages.rounds, 1U);
  }
}

TEST(Outages, AMeanStrikesUntilTheEndAndTheSameSeedStrikesTheSame) {
  const sample::Net net = square();
  OutageRules rules;
  rules.horizon = 100 * ps_per_ms;
  const auto one = plan(net, "fail-link any mean 1ms for 100us", rules),
             other = plan(net, "fail-link any mean 1ms for 100us", rules);
  ASSERT_TRUE(one.ok());
  EXPECT_NEAR(static_cast<double>(one.value().timeline.outages.size()), 100, 45);
  ASSERT_EQ(one.value().timeline.outages.size(), other.value().timeline.outages.size());
  for (std::size_t i = 0; i < one.value().timeline.outages.size(); ++i)
    EXPECT_EQ(one.value().timeline.outages[i].down, other.value().timeline.outages[i].down);
}

TEST(Outages, WhatCannotBeIsRefused) {
  const sample::Net net = square();
  OutageRules short_run;
  short_run.horizon = 2 * ps_per_ms;
  const auto refusal = [&](std::string_view faults, const OutageRules& rules = {}) {
    return plan(net, faults, rules).status().wrong();
  };
  EXPECT_NE(refusal("fail-link link leaf-0/1 time 1ms; fail-link link leaf-0/2 time 1ms").find("cut in two"),
            std::string::npos);
  EXPECT_NE(refusal("fail-link link leaf-9/1 time 1ms").find("nothing of the name"), std::string::npos);
  EXPECT_NE(refusal("fail-link link leaf-0/1 time 1ms; fail-link link leaf-0/1 time 1ms").find("down already"),
            std::string::npos);
  EXPECT_NE(refusal("fail-link link leaf-0/1 time 3ms", short_run).find("after the end"), std::string::npos);
  EXPECT_NE(refusal("fail-link any mean 1ms").find("again and again"), std::string::npos);
  EXPECT_NE(refusal("fail-link any mean 1ns", short_run).find("more than 10,000"), std::string::npos);
  EXPECT_NE(refusal("fail-link link leaf-0/1 time 200d").find("clock"), std::string::npos);
  EXPECT_NE(refusal("noisy-link 1/1000 link leaf-9/1").find("nothing of the name"), std::string::npos);
  EXPECT_NE(refusal("slow-link 1/2 link leaf-9/1").find("nothing of the name"), std::string::npos);
  OutageRules critical;
  critical.critical = true;
  EXPECT_TRUE(plan(net, "fail-link link leaf-0/1 time 1ms; fail-link link leaf-0/2 time 1ms", critical).ok());
  EXPECT_TRUE(plan(net, "fail-hca hca h0 time 1ms").ok());
}

/// A spine fails under traffic between all hosts: with new tables everything arrives after a timeout; with the old ones
/// the connections over it break.
TEST(Outages, NewTablesSaveConnections) {
  const sample::Net net = square();
  for (const bool rerouted : {true, false}) {
    const std::uint8_t used = net.tables.out_port(0, net.fabric.port(Hosts(net.fabric).ports[2]).lid);
    auto planned =
        plan(net, used == 1 ? "fail-switch switch spine-0 time 20us" : "fail-switch switch spine-1 time 20us", {}, {},
             rerouted ? Route(shortest) : Route());
    ASSERT_TRUE(planned.ok());
    sample::ListedTraffic traffic(4);
    for (std::uint32_t source = 0; source < 4; ++source)
      for (std::uint32_t tag = 0; tag < 100; ++tag) traffic.add(source, {(source + 1 + tag % 3) % 4, tag, 2048, 0});
    Control control;
    control.timeline = &planned.value().timeline;
    Parameters parameters;
    parameters_table().apply_defaults(parameters);
    parameters.ack_timeout = 8;  // 1.05 ms
    const Record record = simulate(net.fabric, net.tables, parameters, traffic, control).value();
    EXPECT_EQ(record.ending, Ending::complete);
    EXPECT_GT(record.faults.lost_down, 0U);
    if (rerouted) {
      EXPECT_EQ(record.messages_delivered, 400U);
      EXPECT_EQ(record.faults.connections_broken, 0U);
      EXPECT_GT(record.faults.timeouts, 0U);
    } else {
      EXPECT_GT(record.faults.connections_broken, 0U);
      EXPECT_EQ(record.messages_delivered + record.faults.messages_failed, 400U);
    }
  }
}

}  // namespace
}  // namespace holdfast::simulate
