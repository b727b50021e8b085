#include "simulate/packet/network.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "simulate/packet/both_for_tests.h"

namespace holdfast::simulate {
namespace {

using sample::Compared;

/// Arbitration tables that serve every lane: some entries of weight 0, some lanes in both tables or twice in one.
std::string random_tables(random::Stream draw, std::uint8_t lanes, reference::Priorities& priorities) {
  for (std::uint32_t vl = 0; vl < lanes; ++vl) {
    reference::Weights& table = draw.below(2) == 0 ? priorities.high : priorities.low;
    table.push_back({vl, static_cast<int>(1 + draw.below(100))});
  }
  for (std::uint64_t extra = draw.below(4); extra > 0; --extra)
    (draw.below(2) == 0 ? priorities.high : priorities.low)
        .push_back({static_cast<std::uint32_t>(draw.below(lanes)), static_cast<int>(draw.below(3) * draw.below(128))});
  auto text = [](const reference::Weights& table) {
    std::string list;
    for (const auto& [lane, weight] : table)
      list += (list.empty() ? " " : ", ") + std::to_string(lane) + ":" + std::to_string(weight);
    return list;
  };
  std::string tables;
  if (!priorities.high.empty()) {
    static constexpr int limits[] = {0, 1, 2, 255};
    const int limit = limits[draw.below(4)];
    priorities.limit_blocks = limit == 255 ? -1 : limit * 64;
    tables = "high" + text(priorities.high) + " limit " + std::to_string(limit);
  }
  if (!priorities.low.empty()) tables += (tables.empty() ? "low" : "; low") + text(priorities.low);
  return tables;
}

/// A network, parameters and messages of this seed, through both simulators: every packet at the same picosecond.
void compare(std::uint64_t seed, std::uint64_t& packets, std::uint64_t& deadlocks, std::uint64_t& drops,
             std::uint64_t& flit_events, std::uint64_t& events) {
  random::Stream draw = random::Stream(seed).child("network");
  const auto lanes = static_cast<std::uint8_t>(draw.below(2) == 0 ? 1 : 1 + draw.below(4));
  sample::Net net = sample::random_net(draw.child("net"), seed % 3 != 0, lanes, draw.below(8) == 0);
  if (seed % 5 == 0) {  // a ring that may deadlock
    net = sample::chain(static_cast<std::uint32_t>(3 + draw.below(3)), static_cast<std::uint32_t>(1 + draw.below(3)),
                        true);
    sample::route_clockwise(net);
    net.tables.lanes_used = lanes;
  }
  Parameters parameters = sample::qdr_parameters();
  sample::vary_switches(draw, parameters);
  parameters.hiccup_ns = static_cast<std::int64_t>(draw.below(3) * 7);
  parameters.pcie_generation = 1 + static_cast<std::uint32_t>(draw.below(4));
  sample::vary_lifetimes(draw, parameters);
  random::Stream queues = random::Stream(seed).child("queues");
  if (queues.below(2) == 0) {
    parameters.input_queues = InputQueues::output;
    parameters.input_sends = static_cast<std::uint32_t>(queues.below(4));
  }
  random::Stream slow = random::Stream(seed).child("slowdown");
  if (slow.below(4) == 0) {
    parameters.link_slowdown = 1 + slow.uniform() * 300;
    parameters.deadlock_check_ns = 10'000'000'000;  // a run ends at a deadlock; the reference goes on with the others
  }
  reference::Priorities priorities;
  if (lanes > 1 && draw.below(2) == 0)
    parameters.vl_arbitration = random_tables(draw.child("tables"), lanes, priorities);
  const Compared both = sample::run_both(
      net, parameters, sample::random_messages(draw.child("messages"), Hosts(net.fabric).count()), priorities);
  ASSERT_EQ(both.got.size(), both.expected.size()) << "seed " << seed;
  for (std::size_t i = 0; i < both.got.size(); ++i) {
    const Delivery& got = both.got[i];
    const reference::Received& expected = both.expected[i];
    ASSERT_TRUE(got.source == expected.source && got.destination == expected.destination && got.tag == expected.tag &&
                got.at == expected.at)
        << "seed " << seed << ": packet " << i << " from " << got.source << " to " << got.destination << " tag "
        << got.tag << " at " << got.at << ", expected " << expected.source << " to " << expected.destination << " tag "
        << expected.tag << " at " << expected.at;
  }
  ASSERT_EQ(both.record.dropped_lifetime + both.record.dropped_stalled + both.record.dropped_unroutable,
            both.expected_drops)
      << "seed " << seed;
  packets += both.got.size();
  deadlocks += both.record.ending == Ending::deadlock ? 1 : 0;
  drops += both.expected_drops;
  flit_events += both.flit_events;
  events += both.record.events;
}

TEST(Network, EqualsTheFlitReferenceToThePicosecond) {
  std::uint64_t packets = 0, deadlocks = 0, drops = 0, flit_events = 0, events = 0;
  const char* more = std::getenv("HOLDFAST_FLIT_SEEDS");  // for a longer campaign
  const std::uint64_t seeds = more == nullptr ? 250 : std::strtoull(more, nullptr, 10);
  for (std::uint64_t seed = 0; seed < seeds && !HasFatalFailure(); ++seed)
    compare(seed, packets, deadlocks, drops, flit_events, events);
  std::printf("%llu packets equal; %llu networks deadlocked, %llu packets dropped; %.1f flit events for one event\n",
              static_cast<unsigned long long>(packets), static_cast<unsigned long long>(deadlocks),
              static_cast<unsigned long long>(drops), static_cast<double>(flit_events) / static_cast<double>(events));
  EXPECT_GT(packets, seeds * 20);
  EXPECT_GT(deadlocks, 0U) << "the sample must hold deadlocks";
  EXPECT_GT(drops, 0U) << "the sample must hold drops";
}

}  // namespace
}  // namespace holdfast::simulate
