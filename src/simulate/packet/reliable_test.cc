#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "simulate/packet/both_for_tests.h"

/// Reliable connections: what pen and paper say of one flow, and what no number of failures may break.
namespace holdfast::simulate {
namespace {

constexpr Time packet = 518'500;  // 2,074 bytes at 4X QDR, and over PCI Express 2.0 x8 without hiccups
constexpr Time wire = 42'700;     // 7 m at 6.1 ns
constexpr Time flit = 16'000;
constexpr Time latency = 100'000;
constexpr Time crossed = (flit * 100 + 149) / 150;
/// From the begin of its fetch to when it asks the first switch's output.
constexpr Time to_first_switch = packet + wire + latency + flit;
/// From the begin of its fetch to memory, over two switches (ClosedForms.ZeroLoadLatency).
constexpr Time way = packet + 2 * (wire + flit + latency + crossed) + wire + packet + packet;

struct Flow {
  Record record;
  std::vector<Delivery> deliveries;
};

/// Messages of so many full packets from one host to another, over two switches joined by link 0.
Flow play_flow(const Timeline& timeline, Parameters parameters, std::uint32_t packets, std::uint32_t messages = 1) {
  parameters.hiccup_ns = 0;
  const sample::Net net = sample::chain(2, 1);
  sample::ListedTraffic traffic(2);
  for (std::uint32_t tag = 0; tag < messages; ++tag) traffic.add(0, {1, tag, std::uint64_t{2048} * packets, 0});
  Flow flow;
  Control control;
  control.deliveries = &flow.deliveries;
  control.timeline = &timeline;
  flow.record = simulate(net.fabric, net.tables, parameters, traffic, control).value();
  return flow;
}

Parameters with_timeout(std::uint32_t exponent) {
  Parameters parameters = sample::qdr_parameters();
  parameters.ack_timeout = exponent;
  return parameters;
}

/// A link is down from the start until u. Copy k of the packet is fetched when the timer of the one before is over,
/// which began when that left the adapter; the first that asks at or after u passes.
TEST(Reliable, AFlowOverADeadLinkGoesOnWithTheRetryThatFindsItBack) {
  for (const std::uint32_t exponent : {1U, 2U, 4U})
    for (const Time up :
         {Time{1}, Time{300'000}, to_first_switch, to_first_switch + 1, Time{20'000'000}, Time{47'654'321}}) {
      const Time timeout = Time{4'096'000} << exponent;
      std::uint64_t lost = 0;
      while (static_cast<Time>(lost) * (packet + timeout) + to_first_switch < up) ++lost;
      Timeline timeline;
      timeline.outages.push_back({0, 0, up});
      const Flow flow = play_flow(timeline, with_timeout(exponent), 1);
      if (lost > 7) continue;
      ASSERT_EQ(flow.record.ending, Ending::complete) << exponent << " " << up;
      EXPECT_EQ(flow.record.completion_ps, static_cast<Time>(lost) * (packet + timeout) + way) << exponent << " " << up;
      EXPECT_EQ(flow.record.faults.lost_down, lost);
      EXPECT_EQ(flow.record.faults.timeouts, lost);
      EXPECT_EQ(flow.record.faults.retransmitted, lost);
      EXPECT_EQ(flow.record.packets_sent, lost + 1);
    }
}

/// Seven retries, and the connection is broken when the timer of the last one is over.
TEST(Reliable, AConnectionGivesUpAfterItsRetries) {
  Timeline timeline;
  timeline.outages.push_back({0, 0, never});
  for (const std::uint32_t retries : {0U, 3U, 7U}) {
    Parameters parameters = with_timeout(2);
    parameters.retry_count = retries;
    const Record record = play_flow(timeline, parameters, 1, 3).record;
    const FaultRecord& faults = record.faults;
    EXPECT_EQ(faults.connections_broken, 1U);
    EXPECT_EQ(faults.messages_failed, 3U);
    EXPECT_EQ(record.messages_delivered, 0U);
    EXPECT_EQ(faults.timeouts, retries + 1U);
    EXPECT_EQ(faults.retransmitted, 3U * retries);
  }
}

/// One packet of five is cut on the link: the one after it arrives out of order, the receiver complains, and the sender
/// goes back to the lost one. No timer is involved.
TEST(Reliable, AGapIsComplainedOfAndFilled) {
  for (const Time ack_us : {Time{1}, Time{3}}) {
    Timeline timeline;
    const Time moment = 2 * packet + to_first_switch - 1'000;  // packet 1 is on the link, packet 2 does not ask yet
    timeline.outages.push_back({0, moment, moment + 1});
    Parameters parameters = with_timeout(14);
    parameters.ack_delay_ns = ack_us * 1'000;
    const Flow flow = play_flow(timeline, parameters, 5);
    const Time heard = way + 2 * packet + ack_us * ps_per_us;  // of packet 2, which is out of order
    EXPECT_EQ(flow.record.completion_ps, heard + way + 3 * packet);
    EXPECT_EQ(flow.record.faults.lost_cut, 1U);
    EXPECT_EQ(flow.record.faults.out_of_order, 3U);
    EXPECT_EQ(flow.record.faults.sequence_errors, 1U);
    EXPECT_EQ(flow.record.faults.retransmitted, 4U);
    EXPECT_EQ(flow.record.faults.timeouts, 0U);
    EXPECT_EQ(flow.record.faults.longest_stall_ps > 0, true);
  }
}

/// Without retransmission, of n packets of b bits the damaged ones are binomial with p = 1 - (1 - ber)^b.
TEST(Reliable, NoiseDamagesWhatTheBitErrorRateSays) {
  constexpr std::uint32_t count = 20'000;
  for (const double rate : {1e-7, 1e-6, 1e-5}) {
    Timeline timeline;
    timeline.reliable = false;
    timeline.seed = 7;
    timeline.noise.push_back({0, rate});
    const Record record = play_flow(timeline, sample::qdr_parameters(), 1, count).record;
    const double chance = 1 - std::pow(1 - rate, 8 * 2074);
    const double spread = std::sqrt(count * chance * (1 - chance));
    EXPECT_NEAR(static_cast<double>(record.faults.lost_noise), count * chance, 4.5 * spread) << rate;
    EXPECT_EQ(record.packets_delivered, count - record.faults.lost_noise);
  }
}

/// Whatever fails: every packet that was sent has one fate, every message that was begun is delivered once and in the
/// order of its connection, or its connection is broken; and the same again gives the same bytes.
TEST(Reliable, EveryPacketHasOneFateAndEveryMessageArrivesOnce) {
  std::uint64_t broken = 0, again = 0, complaints = 0, repeated = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    random::Stream draw = random::Stream(seed).child("reliable");
    const sample::Net net =
        sample::random_net(draw.child("net"), seed % 3 != 0, static_cast<std::uint8_t>(1 + draw.below(3)), false);
    const auto messages = sample::random_messages(draw.child("messages"), Hosts(net.fabric).count());
    Parameters parameters = with_timeout(static_cast<std::uint32_t>(1 + draw.below(4)));
    parameters.retry_count = static_cast<std::uint32_t>(2 + draw.below(6));
    parameters.hoq_life = 4;
    Timeline timeline;
    timeline.seed = seed;
    const std::size_t links = net.fabric.links().size();
    for (std::uint64_t count = 1 + draw.below(3); count > 0; --count) {
      const auto down = static_cast<Time>(draw.below(40'000'000));
      const Time up = draw.below(6) == 0 ? never : down + 1 + static_cast<Time>(draw.below(60'000'000));
      timeline.outages.push_back({static_cast<fabric::LinkId>(draw.below(links)), down, up});
    }
    timeline.noise.push_back({static_cast<fabric::LinkId>(draw.below(links)), 3e-6});
    Record records[2];
    std::vector<Delivery> deliveries[2];
    for (int run = 0; run < 2; ++run) {
      sample::ListedTraffic traffic(Hosts(net.fabric).count());
      for (const reference::Sent& message : messages)
        traffic.add(message.source, {message.destination, message.tag, message.bytes, message.created});
      Control control;
      control.deliveries = &deliveries[run];
      control.timeline = &timeline;
      records[run] = simulate(net.fabric, net.tables, parameters, traffic, control).value();
    }
    const Record& record = records[0];
    const FaultRecord& faults = record.faults;
    ASSERT_EQ(to_json(record, false), to_json(records[1], false)) << "seed " << seed;
    ASSERT_EQ(deliveries[0], deliveries[1]) << "seed " << seed;
    if (record.ending == Ending::deadlock) continue;
    ASSERT_EQ(record.ending, Ending::complete) << "seed " << seed;
    ASSERT_EQ(record.packets_sent, record.packets_delivered + faults.repeated + faults.out_of_order + faults.late +
                                       faults.lost_cut + faults.lost_down + faults.lost_noise + faults.lost_looping +
                                       faults.lost_no_route + record.dropped_lifetime + record.dropped_stalled +
                                       record.dropped_unroutable)
        << "seed " << seed;
    ASSERT_EQ(record.messages_sent, messages.size()) << "seed " << seed;
    ASSERT_EQ(record.messages_sent, record.messages_delivered + faults.messages_failed) << "seed " << seed;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> newest;  // tags rise on every connection
    std::map<std::uint32_t, std::uint64_t> packets;
    for (const Delivery& delivery : deliveries[0]) {
      auto [at, first] = newest.try_emplace({delivery.source, delivery.destination}, delivery.tag);
      ASSERT_TRUE(first || at->second <= delivery.tag) << "seed " << seed;
      at->second = delivery.tag;
      ++packets[delivery.tag];
    }
    for (const reference::Sent& message : messages)
      ASSERT_LE(packets[message.tag], (message.bytes + parameters.mtu - 1) / parameters.mtu) << "seed " << seed;
    broken += faults.connections_broken;
    again += faults.retransmitted;
    complaints += faults.sequence_errors;
    repeated += faults.repeated;
  }
  for (const std::uint64_t each : {broken, again, complaints, repeated})
    EXPECT_GT(each, 0U) << "the sample must hold everything";
}

}  // namespace
}  // namespace holdfast::simulate
