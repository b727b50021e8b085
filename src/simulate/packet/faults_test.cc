#include <gtest/gtest.h>

#include <cstdlib>
#include <tuple>

#include "simulate/packet/both_for_tests.h"

/// Links that fail and come back, noise and tables that change: against the reference flit by flit.
namespace holdfast::simulate {
namespace {

struct Seen {
  std::uint64_t packets = 0, cut = 0, down = 0, noise = 0, looping = 0, looped = 0, no_route = 0, deadlocks = 0;
};

Time some_moment(random::Stream& draw) {
  return static_cast<Time>(draw.below(40'000'000));
}

/// Failures, noise and tables of this network, at moments at which there is traffic; now and then two at once.
Timeline random_timeline(random::Stream draw, const sample::Net& net, std::vector<fabric::Forwarding>& others) {
  Timeline timeline;
  timeline.reliable = false;
  timeline.seed = draw.next64();
  const std::size_t links = net.fabric.links().size();
  for (std::uint64_t count = draw.below(4); count > 0; --count) {
    const Time down = some_moment(draw);
    const Time up = draw.below(4) == 0 ? never : down + 1 + static_cast<Time>(draw.below(3'000'000));
    timeline.outages.push_back({static_cast<fabric::LinkId>(draw.below(links)), down, up});
    if (up != never && draw.below(2) == 0)
      timeline.outages.push_back({timeline.outages.back().link, up + static_cast<Time>(draw.below(2'000'000)), never});
  }
  for (std::uint64_t count = draw.below(3); count > 0; --count) {
    const Time from = some_moment(draw);
    static constexpr double rates[] = {1e-6, 1e-5, 1e-4};
    timeline.noise.push_back({static_cast<fabric::LinkId>(draw.below(links)), rates[draw.below(3)], from,
                              draw.below(2) == 0 ? never : from + 1 + some_moment(draw)});
  }
  for (fabric::LinkId link = 0; link < links; ++link) {
    if (draw.below(3) != 0) continue;
    const std::uint64_t denominator = 2 + draw.below(20);
    const Time from = some_moment(draw);
    const Time to = draw.below(4) == 0 ? never : from + 1 + static_cast<Time>(draw.below(9'000'000));
    timeline.slow.push_back({link, 1 + draw.below(denominator - 1), denominator, from, to});
    if (to != never && draw.below(2) == 0) timeline.slow.push_back({link, 1, 3, to, never});
  }
  others.reserve(2);
  for (std::uint64_t count = draw.below(3); count > 0; --count) {
    sample::Net other = net;
    sample::route_shortest(other, draw.child("ties").child(count));
    if (draw.below(2) == 0)  // a loop, or a way that is none
      for (fabric::Lid lid = 1; lid < other.tables.lids(); ++lid)
        if (draw.below(3) == 0)
          other.tables.set_out_port(static_cast<std::uint32_t>(draw.below(other.tables.rows())), lid,
                                    static_cast<std::uint8_t>(1 + draw.below(6)));
    others.push_back(other.tables);
    others.back().lanes_used = net.tables.lanes_used;
    for (std::uint32_t row = 0; row < net.tables.rows(); ++row)
      if (draw.below(3) != 0)
        timeline.writes.push_back({some_moment(draw), row, draw.below(12) == 0 ? nullptr : &others.back()});
  }
  return timeline;
}

void compare_faulty(std::uint64_t seed, Seen& seen) {
  random::Stream draw = random::Stream(seed).child("faulty network");
  const auto lanes = static_cast<std::uint8_t>(draw.below(2) == 0 ? 1 : 1 + draw.below(4));
  sample::Net net = sample::random_net(draw.child("net"), seed % 3 != 0, lanes, draw.below(8) == 0);
  const bool maps = net.tables.has_lane_maps();
  Parameters parameters = sample::qdr_parameters();
  sample::vary_switches(draw, parameters);
  parameters.hop_limit = static_cast<std::uint32_t>(2 + draw.below(12));
  sample::vary_lifetimes(draw, parameters);
  std::vector<fabric::Forwarding> others;
  Timeline timeline = random_timeline(draw.child("timeline"), net, others);
  if (maps) timeline.writes.clear();  // the reference keeps the lanes of the first tables
  const sample::Compared both = sample::run_both(
      net, parameters, sample::random_messages(draw.child("messages"), Hosts(net.fabric).count()), {}, &timeline);
  if (both.record.ending == Ending::deadlock) {  // which ends the run while others still send
    const auto before = [](const auto& a, const auto& b) {
      return std::tie(a.source, a.destination, a.tag, a.at) < std::tie(b.source, b.destination, b.tag, b.at);
    };
    ASSERT_TRUE(std::includes(both.expected.begin(), both.expected.end(), both.got.begin(), both.got.end(), before))
        << "seed " << seed;
    ++seen.deadlocks;
    return;
  }
  ASSERT_EQ(both.got.size(), both.expected.size()) << "seed " << seed << "\n" << to_text(both.record);
  for (std::size_t i = 0; i < both.got.size(); ++i) {
    const Delivery& got = both.got[i];
    const reference::Received& expected = both.expected[i];
    ASSERT_TRUE(got.source == expected.source && got.destination == expected.destination && got.tag == expected.tag &&
                got.at == expected.at)
        << "seed " << seed << ": packet " << i << " from " << got.source << " to " << got.destination << " tag "
        << got.tag << " at " << got.at << ", expected " << expected.source << " to " << expected.destination << " tag "
        << expected.tag << " at " << expected.at;
  }
  const FaultRecord& faults = both.record.faults;
  const std::uint64_t lost = faults.lost_cut + faults.lost_down + faults.lost_noise + faults.lost_looping +
                             faults.lost_no_route + both.record.dropped_lifetime + both.record.dropped_stalled +
                             both.record.dropped_unroutable;
  ASSERT_EQ(lost, both.expected_drops) << "seed " << seed;
  ASSERT_EQ(both.record.packets_sent, both.record.packets_delivered + lost + faults.under_way) << "seed " << seed;
  seen.packets += both.got.size();
  seen.cut += faults.lost_cut;
  seen.down += faults.lost_down;
  seen.noise += faults.lost_noise;
  seen.looping += faults.lost_looping;
  seen.looped += faults.looped;
  seen.no_route += faults.lost_no_route;
}

TEST(Faults, EqualTheFlitReferenceToThePicosecond) {
  Seen seen;
  const char* more = std::getenv("HOLDFAST_FLIT_SEEDS");  // for a longer campaign
  const std::uint64_t seeds = more == nullptr ? 90 : std::strtoull(more, nullptr, 10);
  for (std::uint64_t seed = 0; seed < seeds && !HasFatalFailure(); ++seed) compare_faulty(seed, seen);
  std::printf(
      "%llu packets equal; %llu deadlocks; lost: %llu cut, %llu down, %llu noise, %llu looping (%llu looped), %llu no "
      "route\n",
      static_cast<unsigned long long>(seen.packets), static_cast<unsigned long long>(seen.deadlocks),
      static_cast<unsigned long long>(seen.cut), static_cast<unsigned long long>(seen.down),
      static_cast<unsigned long long>(seen.noise), static_cast<unsigned long long>(seen.looping),
      static_cast<unsigned long long>(seen.looped), static_cast<unsigned long long>(seen.no_route));
  for (const std::uint64_t each : {seen.cut, seen.down, seen.noise, seen.looping, seen.looped, seen.no_route})
    EXPECT_GT(each, 0U) << "the sample must hold every kind of loss";
}

/// A timeline of which nothing happens within the run changes nothing.
TEST(Faults, NothingThatHappensChangesNothing) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const random::Stream draw = random::Stream(seed).child("nothing happens");
    const sample::Net net = sample::random_net(draw.child("net"), true, static_cast<std::uint8_t>(1 + seed % 3), false);
    const auto messages = sample::random_messages(draw.child("messages"), Hosts(net.fabric).count());
    for (const bool reliable : {false, true}) {
      Timeline timeline;
      timeline.reliable = reliable;
      timeline.outages.push_back({0, 3'000'000 * ps_per_us, never});
      const sample::Compared without = sample::run_both(net, sample::qdr_parameters(), messages);
      const sample::Compared with = sample::run_both(net, sample::qdr_parameters(), messages, {}, &timeline);
      EXPECT_EQ(without.got, with.got);
      EXPECT_EQ(without.record.completion_ps, with.record.completion_ps);
      EXPECT_EQ(with.record.faults.retransmitted, 0U);
    }
  }
}

}  // namespace
}  // namespace holdfast::simulate
