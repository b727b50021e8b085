#include "simulate/transport/simulate_transport.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/fault/grammar.h"
#include "simulate/job/job_traffic.h"
#include "simulate/job/sample_programs_for_tests.h"
#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/traffic/pattern.h"
#include "simulate/traffic/trace.h"
#include "simulate/transport/ledger_for_tests.h"

/// The shipped engine in simulated hosts: what pen and paper say of it on an idle network, and what no loss may change.
namespace holdfast::simulate {
namespace {

using transport::Count;

TransportSetting defaults(std::uint64_t seed = 1) {
  TransportSetting setting;
  transport::options_table().apply_defaults(setting.options);
  datagram_table().apply_defaults(setting.datagrams);
  setting.seed = seed;
  return setting;
}

Parameters quiet() {
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  parameters.hiccup_ns = 0;
  return settle(parameters, {});  // as QDR
}

/// Hosts with an adapter on each of `rails` crossbars.
sample::Net planes(std::uint32_t hosts, std::uint32_t rails) {
  sample::Net net;
  std::vector<fabric::NodeId> hubs;
  for (std::uint32_t rail = 0; rail < rails; ++rail)
    hubs.push_back(net.fabric.add_node(fabric::NodeKind::switch_, static_cast<std::uint8_t>(hosts),
                                       "hub-" + std::to_string(rail)));
  for (std::uint32_t host = 0; host < hosts; ++host)
    for (std::uint32_t rail = 0; rail < rails; ++rail)
      net.fabric.connect(net.fabric.add_node(fabric::NodeKind::adapter, 1,
                                             "host-" + std::to_string(host) + " mlx5_" + std::to_string(rail)),
                         hubs[rail]);
  net.fabric.assign_lids();
  sample::route_shortest(net, random::Stream(1));
  return net;
}

struct Outcome {
  TransportRun run;
  std::uint64_t sent = 0, delivered = 0;
  std::vector<Time> latencies;
};

/// Plays it with the account that every message came once.
Outcome play(const sample::Net& net, Traffic& traffic, const TransportSetting& setting = defaults(),
             const Timeline* timeline = nullptr, const Parameters& parameters = quiet(), Time limit = never) {
  sample::Ledger ledger(traffic);
  Control control;
  control.timeline = timeline;
  control.limit = limit;
  auto run = simulate_over_transport(net.fabric, net.tables, parameters, ledger, setting, control);
  EXPECT_TRUE(run.ok()) << run.status().wrong();
  if (!run.ok()) return {};
  if (run.value().record.ending == Ending::complete) {
    EXPECT_EQ(ledger.delivered_count(), ledger.sent_count());
  }
  EXPECT_EQ(run.value().transport.messages_delivered + run.value().transport.messages_inside, ledger.delivered_count());
  return {std::move(run).value(), ledger.sent_count(), ledger.delivered_count(), ledger.latencies()};
}

sample::ListedTraffic stream(std::uint32_t hosts, std::uint32_t messages, std::uint64_t bytes, Time gap = 0) {
  sample::ListedTraffic traffic(hosts);
  for (std::uint32_t tag = 0; tag < messages; ++tag) traffic.add(0, {1, tag, bytes, gap * tag});
  return traffic;
}

/// One packet of so many bytes, through one switch: put by the processor, fetched over PCI Express, wire, first flit,
/// latency, first flit through the crossbar, wire, all of it, PCI Express, taken by the processor.
Time one_packet(std::uint64_t bytes) {
  const Time processor = 335'000 + 26 * static_cast<Time>(bytes);
  const auto carried = static_cast<Time>(bytes + 8 + 26);
  return processor + 250 * carried + 42'700 + 16'000 + 100'000 + 10'667 + 42'700 + 250 * carried + 250 * carried +
         processor;
}

/// A message of a known peer is one packet, headers of 120 bytes and its own. The first is preceded by the four of a
/// first meeting: HELLO, the question who is there, HELLO again with the answer, and the peer's HELLO.
TEST(SimulateTransport, AMessageOnAnIdleNetworkTakesWhatItsPacketsTake) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{1000}, std::uint64_t{1868}}) {
    sample::ListedTraffic traffic = stream(2, 5, bytes, 50 * ps_per_ms);
    const Outcome outcome = play(sample::crossbar(2), traffic);
    ASSERT_EQ(outcome.run.record.ending, Ending::complete);
    ASSERT_EQ(outcome.latencies.size(), 5U);
    const Time later = one_packet(120 + bytes);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(outcome.latencies[i], later) << bytes << " " << i;
    const Time hello = one_packet(56 + 56 + 4), question = one_packet(56 + 20);
    EXPECT_EQ(outcome.latencies[0], hello + question + hello + hello + later) << bytes;
    EXPECT_EQ(outcome.run.transport.completion_ps, 200 * ps_per_ms + later);
    EXPECT_EQ(outcome.run.record.completion_ps, outcome.run.transport.completion_ps);
    EXPECT_EQ(outcome.run.transport.engines[Count::fragments_retransmitted], 0U);
  }
}

/// Fragments of a long message follow each other at the pace of the slowest part, which is the sender's processor here.
TEST(SimulateTransport, ALongMessageIsAsFastAsItsSlowestPart) {
  TransportSetting setting = defaults();
  setting.datagrams.send_overhead_ns = 2000;
  sample::ListedTraffic traffic = stream(2, 2, std::uint64_t{1} << 20, 50 * ps_per_ms);
  const Outcome outcome = play(sample::crossbar(2), traffic, setting);
  ASSERT_EQ(outcome.latencies.size(), 2U);
  const std::uint64_t payload = 2048 - 8 - 172;
  const std::uint64_t fragments = ((1U << 20) + payload - 1) / payload;
  EXPECT_GE(outcome.run.transport.engines[Count::fragments_sent], 2 * fragments);
  EXPECT_LE(outcome.run.transport.engines[Count::fragments_sent], 2 * (fragments + 2));  // who asks, and who answers
  const double pace = static_cast<double>(outcome.latencies[1]) / static_cast<double>(fragments);
  EXPECT_NEAR(pace / (2'000'000 + 26 * 2040.0), 1, 0.1);
}

// ------------------------------------------------------------------------------------------ every traffic, every loss

Timeline noise_everywhere(const sample::Net& net, double rate, std::uint64_t seed) {
  Timeline timeline;
  timeline.seed = seed;
  for (fabric::LinkId link = 0; link < net.fabric.links().size(); ++link) timeline.noise.push_back({link, rate});
  return timeline;
}

/// Messages of all lengths between hosts at random, some to themselves.
sample::ListedTraffic at_random(std::uint32_t hosts, std::uint64_t seed) {
  random::Stream draw(seed);
  sample::ListedTraffic traffic(hosts);
  for (std::uint32_t host = 0; host < hosts; ++host) {
    Time created = 0;
    for (std::uint32_t tag = 0; tag < 40; ++tag) {
      created += static_cast<Time>(draw.below(2'000'000));
      const std::uint64_t longest = std::uint64_t{1} << draw.below(19);
      traffic.add(host, {static_cast<std::uint32_t>(draw.below(hosts)), tag, draw.below(longest), created});
    }
  }
  return traffic;
}

TEST(SimulateTransport, EveryMessageComesOnceWhateverIsLost) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    const sample::Net net = seed % 2 == 0 ? sample::chain(3, 2) : planes(4, 2);
    const auto hosts = static_cast<std::uint32_t>(net.fabric.adapter_count());
    for (const double rate : {0.0, 1e-7, 3e-6, 3e-5}) {
      sample::ListedTraffic traffic = at_random(hosts, seed);
      const Timeline timeline = noise_everywhere(net, rate > 0 ? rate : 1e-12, seed);
      const Outcome outcome = play(net, traffic, defaults(seed), rate > 0 ? &timeline : nullptr);
      EXPECT_EQ(outcome.run.record.ending, Ending::complete) << seed << " " << rate;
      EXPECT_EQ(outcome.delivered, std::uint64_t{40} * hosts);
      if (rate >= 3e-6) {
        EXPECT_GT(outcome.run.transport.engines[Count::fragments_retransmitted], 0U) << seed << " " << rate;
        EXPECT_GT(outcome.run.transport.rails[0].lost_packets, 0U);
      }
    }
  }
}

TEST(SimulateTransport, PatternsEnd) {
  for (const char* text :
       {"exchange size=5000", "permutation size=300 messages=20", "all-to-all size=70000 messages=3"})
    for (const double rate : {0.0, 3e-6}) {
      const sample::Net net = sample::chain(2, 3);
      auto traffic = make_traffic(parse_traffic(text).value(), net.fabric, quiet(), 1).value();
      const Timeline timeline = noise_everywhere(net, 3e-6, 7);
      const Outcome outcome = play(net, *traffic, defaults(), rate > 0 ? &timeline : nullptr);
      EXPECT_EQ(outcome.run.record.ending, Ending::complete) << text << " " << rate;
      EXPECT_GT(outcome.delivered, 0U);
    }
}

/// A pattern without an end: steady, and what arrives is what the goodput says.
TEST(SimulateTransport, APatternWithoutEndBecomesSteady) {
  const sample::Net net = sample::crossbar(4);
  auto traffic = make_traffic(parse_traffic("permutation size=4096").value(), net.fabric, quiet(), 1).value();
  const Outcome outcome = play(net, *traffic, defaults(), nullptr, quiet(), 20 * ps_per_ms);
  EXPECT_TRUE(outcome.run.record.ending == Ending::steady || outcome.run.record.ending == Ending::limit);
  EXPECT_GT(outcome.run.transport.goodput_bytes_per_s, 4 * 1e9);
  EXPECT_LT(outcome.run.transport.goodput_bytes_per_s, outcome.run.record.throughput_bytes_per_s);
}

TEST(SimulateTransport, ATraceIsReplayed) {
  const char* text =
      "holdfast-trace 1\nhosts 2\nhost 0\nsend 1 100000 tag 1\nsend 1 10 tag 1\nrecv 1\nhost 1\nrecv 0 100000 tag 1\n"
      "compute 10us\nsend 0 7\nrecv 0 10 tag 1\n";
  for (const double rate : {0.0, 1e-5}) {
    const sample::Net net = sample::crossbar(2);
    ScheduleTraffic traffic(parse_trace(text, "test").value());
    const Timeline timeline = noise_everywhere(net, 1e-5, 3);
    const Outcome outcome = play(net, traffic, defaults(), rate > 0 ? &timeline : nullptr);
    EXPECT_EQ(outcome.run.record.ending, Ending::complete);
    EXPECT_EQ(traffic.operations_over(), 7U);
  }
  // One that waits for what nobody sends is stuck, as without the transport.
  ScheduleTraffic waiting(parse_trace("holdfast-trace 1\nhosts 2\nhost 0\nrecv 1\n", "test").value());
  EXPECT_EQ(play(sample::crossbar(2), waiting).run.record.ending, Ending::stuck);
}

/// A program with collectives, rendezvous and ranks that share a host.
TEST(SimulateTransport, ARecordedProgramIsReplayed) {
  using record::Fact;
  for (const double rate : {0.0, 1e-6, 1e-5}) {
    job::Job one;
    job::sample::Recording recording(6);
    recording.all("MPI_Barrier", {}, 1000)
        .all("MPI_Allreduce", {{Fact::bytes, 40'000}}, 20'000)
        .all("MPI_Barrier", {}, 500);
    one.program = recording.take();
    job::protocol_table().apply_defaults(one.protocol);
    one.hosts = {0, 0, 1, 1, 2, 3};
    job::JobTraffic traffic({one}, 4);
    const sample::Net net = sample::chain(2, 2);
    const Timeline timeline = noise_everywhere(net, rate, 11);
    const Outcome outcome = play(net, traffic, defaults(), rate > 0 ? &timeline : nullptr);
    EXPECT_EQ(outcome.run.record.ending, Ending::complete) << rate;
    EXPECT_GT(outcome.delivered, 20U);
    const std::vector<job::JobOutcome> jobs = traffic.outcomes();
    for (const job::RankOutcome& rank : jobs[0].ranks) EXPECT_TRUE(rank.ended);
  }
}

TEST(SimulateTransport, EqualArgumentsGiveEqualRecords) {
  const sample::Net net = planes(4, 2);
  const auto text = [&](std::uint64_t seed) {
    sample::ListedTraffic traffic = at_random(8, 5);
    const Timeline timeline = noise_everywhere(net, 1e-5, seed);
    TransportSetting setting = defaults(seed);
    setting.faults =
        fault::parse("flip rate 1/50; duplicate rate 1/100; reorder rate 1/100; delay 20us rate 1/100").value();
    const Outcome outcome = play(net, traffic, setting, &timeline);
    EXPECT_EQ(outcome.run.record.ending, Ending::complete);
    return to_json(outcome.run.transport).dump() + to_json(outcome.run.record, false).dump();
  };
  const std::string once = text(1);
  EXPECT_EQ(once, text(1));
  EXPECT_NE(once, text(2));
}

// -------------------------------------------------------------------------------------------------------------
// failures

/// A link of one plane dies with a transfer on it and comes back: nothing is lost to the program, the rest goes over
/// the other plane, and the first one is used again.
TEST(SimulateTransport, ARailThatDiesIsLeftAndFoundAgain) {
  const sample::Net net = planes(2, 2);
  sample::ListedTraffic traffic(4);
  for (std::uint32_t tag = 0; tag < 3000; ++tag) traffic.add(0, {2, tag, 100'000, 0});
  Timeline timeline;
  timeline.outages.push_back({0, 5 * ps_per_ms, 40 * ps_per_ms});
  const Outcome outcome = play(net, traffic, defaults(), &timeline);
  ASSERT_EQ(outcome.run.record.ending, Ending::complete);
  EXPECT_EQ(outcome.delivered, 3000U);
  const TransportRecord& record = outcome.run.transport;
  EXPECT_GT(record.rails[0].lost_packets, 0U);
  EXPECT_EQ(record.rails[1].lost_packets, 0U);
  EXPECT_GT(record.engines[Count::rails_suspected] + record.engines[Count::rails_lost], 0U);
  EXPECT_EQ(record.engines[Count::peers_given_up], 0U);
  // 300 MB take 84 ms over one rail, so that both were of use
  EXPECT_LT(record.completion_ps, 100 * ps_per_ms);
  EXPECT_GT(record.rails[0].bytes, record.rails[1].bytes / 8);
}

/// What the flows between adapters add up to is what each rail was given, whichever rail is away: their loads are laid
/// on links by these.
TEST(SimulateTransport, FlowsAreOfTheRailThatCarriedThem) {
  const sample::Net net = planes(3, 2);  // adapter 2 * host + rail
  for (const int away : {-1, 0, 1}) {
    SCOPED_TRACE(away);
    sample::ListedTraffic traffic(6);
    for (std::uint32_t tag = 0; tag < 300; ++tag) traffic.add(0, {4, tag, 50'000, 0});
    Timeline timeline;
    if (away >= 0) timeline.outages.push_back({static_cast<fabric::LinkId>(away), ps_per_ms});  // of host 0
    const Outcome outcome = play(net, traffic, defaults(), away >= 0 ? &timeline : nullptr);
    ASSERT_EQ(outcome.run.record.ending, Ending::complete);
    const TransportRecord& record = outcome.run.transport;
    std::array<std::uint64_t, 2> bytes{}, sent{};
    for (const TransportRecord::Flow& flow : record.flows) {
      ASSERT_EQ(flow.from % 2, flow.to % 2) << "planes are apart";
      bytes[flow.from % 2] += flow.bytes;
      if (flow.from < 2) sent[flow.from] += flow.bytes;
    }
    for (std::size_t rail = 0; rail < 2; ++rail)
      EXPECT_EQ(bytes[rail], record.rails[rail].bytes + datagram_header_bytes * record.rails[rail].packets);
    if (away >= 0) {
      EXPECT_LT(2 * sent[static_cast<std::size_t>(away)], sent[static_cast<std::size_t>(1 - away)]);
    }
    EXPECT_GT(sent[0] + sent[1], 300U * 50'000U);
  }
}

/// The links of a switch die together.
Timeline switch_dies(const sample::Net& net, std::string_view name, Time at) {
  Timeline timeline;
  for (fabric::LinkId link = 0; link < net.fabric.links().size(); ++link)
    for (const fabric::PortId end : {net.fabric.link(link).a, net.fabric.link(link).b})
      if (net.fabric.node(net.fabric.port(end).node).name == name) timeline.outages.push_back({link, at});
  return timeline;
}

/// A switch dies for good, and with it one of the planes.
TEST(SimulateTransport, ASwitchThatDiesTakesItsPlaneOnly) {
  const sample::Net net = planes(3, 2);
  sample::ListedTraffic traffic(6);
  for (std::uint32_t tag = 0; tag < 200; ++tag)
    for (std::uint32_t host = 0; host < 3; ++host) traffic.add(2 * host, {2 * ((host + 1) % 3), tag, 50'000, 0});
  const Timeline timeline = switch_dies(net, "hub-0", ps_per_ms);
  ASSERT_EQ(timeline.outages.size(), 3U);
  const Outcome outcome = play(net, traffic, defaults(), &timeline);
  EXPECT_EQ(outcome.run.record.ending, Ending::complete);
  EXPECT_EQ(outcome.delivered, 600U);
  EXPECT_GT(outcome.run.transport.rails[0].lost_packets, 0U);
}

/// An adapter is away while more messages are on their way than an acknowledgement can tell of: the other rail takes
/// the rest, whenever it fails.
TEST(SimulateTransport, NoMomentOfAnOutageMakesTheRestWaitForIt) {
  const sample::Net net = planes(2, 2);
  for (const Time begin_us : {2777, 3554, 4331, 5108, 5885}) {
    SCOPED_TRACE(begin_us);
    sample::ListedTraffic traffic(4);
    for (std::uint32_t tag = 0; tag < 1000; ++tag) traffic.add(0, {2, tag, 65'536, 0});
    TransportSetting setting = defaults();
    setting.datagrams.send_overhead_ns = setting.datagrams.receive_overhead_ns = 0;
    setting.datagrams.send_byte_ps = setting.datagrams.receive_byte_ps = 0;
    Timeline timeline;
    timeline.outages.push_back({0, begin_us * ps_per_us, 100 * ps_per_ms});
    const Outcome outcome = play(net, traffic, setting, &timeline);
    ASSERT_EQ(outcome.run.record.ending, Ending::complete);
    EXPECT_GT(outcome.run.transport.rails[0].lost_packets, 0U);
    EXPECT_EQ(outcome.run.transport.rails[1].lost_packets, 0U);
    EXPECT_LT(outcome.run.transport.completion_ps, 90 * ps_per_ms);
  }
}

/// Three ranks pass 2,000 bytes round and sum 8,000, forty times.
job::Job ring_of_three(int degree, replicate::Protocol protocol, const std::string& inject = "") {
  using record::Fact;
  job::sample::Recording recording(3);
  for (int step = 0; step < 40; ++step) {
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      recording.call(rank, "MPI_Send", {{Fact::peer, (rank + 1) % 3}, {Fact::tag, step}, {Fact::bytes, 2000}}, 50'000);
      recording.call(rank, "MPI_Recv", {{Fact::peer, (rank + 2) % 3}, {Fact::tag, step}});
    }
    recording.all("MPI_Allreduce", {{Fact::bytes, 8000}}, 20'000);
  }
  job::Job made;
  made.program = recording.take();
  job::protocol_table().apply_defaults(made.protocol);
  job::replication_costs_table().apply_defaults(made.protection.costs);
  made.protection.degree = degree;
  made.protection.protocol = protocol;
  made.protection.inject = inject;
  for (std::uint32_t process = 0; process < 3 * static_cast<std::uint32_t>(degree); ++process)
    made.hosts.push_back(2 * process);  // the first adapters of hosts with two
  return made;
}

struct ReplicatedRun {
  Outcome network;
  job::JobOutcome outcome;
};

ReplicatedRun play_replicated(const job::Job& replicated, const Timeline* timeline) {
  const auto hosts = static_cast<std::uint32_t>(replicated.hosts.size());
  job::JobTraffic traffic({replicated}, 2 * hosts);
  ReplicatedRun run{play(planes(hosts, 2), traffic, defaults(), timeline), {}};
  run.outcome = traffic.outcomes()[0];
  return run;
}

/// Replicas over the transport over a fabric that loses a switch: both shipped engines in one world. What the replicas
/// say to each other, compare and find is what it is on a fabric that is whole.
TEST(SimulateTransport, ReplicasOverAFabricThatLosesASwitch) {
  using replicate::Protocol;
  for (const int degree : {2, 3})
    for (const Protocol protocol : {Protocol::msg_plus_hash, Protocol::msg_plus_vote, Protocol::all_to_all}) {
      SCOPED_TRACE(testing::Message() << degree << " " << job::protocol_name(protocol));
      const job::Job replicated = ring_of_three(degree, protocol);
      const Timeline timeline = switch_dies(planes(3 * static_cast<std::uint32_t>(degree), 2), "hub-0", ps_per_ms);
      const ReplicatedRun whole = play_replicated(replicated, nullptr), struck = play_replicated(replicated, &timeline);
      ASSERT_TRUE(struck.outcome.replication.has_value());
      EXPECT_EQ(struck.network.run.record.ending, Ending::complete);
      EXPECT_GT(struck.network.run.transport.rails[0].lost_packets, 0U);
      EXPECT_EQ(struck.network.run.transport.rails[1].lost_packets, 0U);
      EXPECT_EQ(struck.network.delivered, whole.network.delivered);
      for (const job::RankOutcome& rank : struck.outcome.ranks) EXPECT_TRUE(rank.ended);
      const job::ReplicationOutcome &one = *struck.outcome.replication, &other = *whole.outcome.replication;
      EXPECT_EQ(one.counters[replicate::Count::messages], 40U * 3U * static_cast<std::uint64_t>(degree));
      EXPECT_EQ(one.counters[replicate::Count::mismatches], 0U);
      EXPECT_EQ(one.records, other.records);
      EXPECT_EQ(one.record_bytes, other.record_bytes);
      EXPECT_EQ(one.copies, other.copies);
      EXPECT_FALSE(one.incident.has_value());
    }
}

/// Likewise where a bit flips after the switch has died: two replicas end the job, three mend it.
TEST(SimulateTransport, AFlipOnAFabricThatHasLostASwitch) {
  for (const int degree : {2, 3}) {
    SCOPED_TRACE(degree);
    const job::Job replicated =
        ring_of_three(degree, replicate::Protocol::msg_plus_hash, "flip rank 1 replica 0 message 51 bit 62");
    const Timeline timeline = switch_dies(planes(3 * static_cast<std::uint32_t>(degree), 2), "hub-0", ps_per_ms);
    const ReplicatedRun struck = play_replicated(replicated, &timeline);
    EXPECT_GT(struck.network.run.transport.rails[0].lost_packets, 0U);
    const job::ReplicationOutcome& found = *struck.outcome.replication;
    EXPECT_EQ(found.counters[replicate::Count::corrections] > 0, degree == 3);
    ASSERT_EQ(found.incident.has_value(), degree == 2);
    if (degree == 2) {
      EXPECT_EQ(found.incident->incident, replicate::Incident::uncorrected);
      EXPECT_GT(found.incident->at_ps, ps_per_ms);
    } else {
      for (const job::RankOutcome& rank : struck.outcome.ranks) EXPECT_TRUE(rank.ended);
    }
  }
}

/// With one rail the transfer waits until the link is back.
TEST(SimulateTransport, WithOneRailAnOutageIsWaitedFor) {
  const sample::Net net = sample::crossbar(2);
  sample::ListedTraffic traffic = stream(2, 100, 100'000);
  Timeline timeline;
  timeline.outages.push_back({0, ps_per_ms, 300 * ps_per_ms});
  const Outcome outcome = play(net, traffic, defaults(), &timeline);
  EXPECT_EQ(outcome.run.record.ending, Ending::complete);
  EXPECT_EQ(outcome.delivered, 100U);
  EXPECT_GT(outcome.run.transport.completion_ps, 300 * ps_per_ms);
  // Samples are few, however long it takes, and leave nothing out.
  const TransportRecord& record = outcome.run.transport;
  EXPECT_LE(record.goodput.size(), 4096U);
  EXPECT_EQ(std::accumulate(record.goodput.begin(), record.goodput.end(), std::uint64_t{0}), 100U * 100'000U);
  EXPECT_EQ(record.completion_ps / record.sample_ps + 1, static_cast<Time>(record.goodput.size()));
}

/// A peer that no rail reaches for transport.unreachable_after is given up, and the run says who and when.
TEST(SimulateTransport, APeerOutOfReachEndsTheRun) {
  const sample::Net net = sample::crossbar(2);
  sample::ListedTraffic traffic = stream(2, 100, 100'000);
  Timeline timeline;
  timeline.outages.push_back({0, ps_per_ms});
  TransportSetting setting = defaults();
  setting.options.unreachable_after_ns = 100'000'000;
  const Outcome outcome = play(net, traffic, setting, &timeline);
  EXPECT_EQ(outcome.run.record.ending, Ending::broken);
  ASSERT_TRUE(outcome.run.transport.loss.has_value());
  const TransportRecord::Loss& loss = *outcome.run.transport.loss;
  EXPECT_TRUE(loss.host == "h0" || loss.host == "h1") << loss.host;
  EXPECT_EQ(loss.outcome, "unreachable");
  EXPECT_GE(loss.at, 100 * ps_per_ms);
  EXPECT_LT(loss.at, 300 * ps_per_ms);
}

/// Bits that turn in a host before the CRC of its adapter: the engine's checksum finds them, and nothing else does.
TEST(SimulateTransport, FlippedBitsAreCaughtByTheChecksumAlone) {
  const sample::Net net = sample::crossbar(2);
  TransportSetting setting = defaults();
  setting.faults = fault::parse("flip rate 1/20; corrupt-header rate 1/100").value();
  sample::ListedTraffic traffic = stream(2, 2000, 1500);
  const Outcome checked = play(net, traffic, setting);
  EXPECT_EQ(checked.run.record.ending, Ending::complete);
  const TransportRecord& record = checked.run.transport;
  EXPECT_GT(record.packets_struck, 50U);
  EXPECT_GT(record.engines[Count::corrupt_fragments], 0U);
  EXPECT_GT(record.engines[Count::corrupt_headers], 0U);
  EXPECT_EQ(record.wrong_messages, 0U);

  // Messages of many fragments, over two rails.
  sample::ListedTraffic longer(4);
  for (std::uint32_t tag = 0; tag < 50; ++tag)
    longer.add(0, {1, tag, 50'000U + tag, 0}), longer.add(1, {2, tag, 90'000, 0});
  const Outcome many = play(planes(2, 2), longer, setting);
  EXPECT_EQ(many.run.record.ending, Ending::complete);
  EXPECT_GT(many.run.transport.engines[Count::corrupt_fragments], 20U);
  EXPECT_EQ(many.run.transport.wrong_messages, 0U);

  setting.options.checksum = integrity::Checksum::none;
  traffic = stream(2, 2000, 1500);
  const Outcome unchecked = play(net, traffic, setting);
  EXPECT_EQ(unchecked.run.record.ending, Ending::complete);
  EXPECT_EQ(unchecked.run.transport.engines[Count::corrupt_fragments], 0U);
  EXPECT_GT(unchecked.run.transport.wrong_messages, 20U);
}

// ------------------------------------------------------------------------------------------------------------ bad
// input

TEST(SimulateTransport, WhatItCannotDoIsOneLine) {
  const sample::Net net = planes(2, 3);
  sample::ListedTraffic traffic(6);
  const auto wrong = [&](const TransportSetting& setting, const Parameters& parameters) {
    const auto run = simulate_over_transport(net.fabric, net.tables, parameters, traffic, setting);
    EXPECT_FALSE(run.ok());
    return run.ok() ? std::string() : run.status().wrong();
  };
  TransportSetting setting = defaults();
  setting.datagrams.rails = 2;
  EXPECT_NE(wrong(setting, quiet()).find("more than 2 adapters"), std::string::npos);
  setting.datagrams.rails = 1;
  EXPECT_TRUE(simulate_over_transport(net.fabric, net.tables, quiet(), traffic, setting).ok());
  setting = defaults();
  Parameters narrow = quiet();
  narrow.mtu = 1011;
  EXPECT_NE(wrong(setting, narrow).find("no room"), std::string::npos);
  narrow.mtu = 1012;
  EXPECT_TRUE(simulate_over_transport(net.fabric, net.tables, narrow, traffic, setting).ok());
  setting.faults = fault::parse("fail-link any time 1ms").value();
  EXPECT_NE(wrong(setting, quiet()).find("no fault of packets"), std::string::npos);
  setting = defaults();
  setting.options.secret_file = "secret";
  EXPECT_NE(wrong(setting, quiet()).find("secret"), std::string::npos);

  sample::Net empty;
  empty.fabric.add_node(fabric::NodeKind::switch_, 4, "hub");
  empty.fabric.assign_lids();
  empty.tables = fabric::Forwarding(empty.fabric);
  EXPECT_FALSE(simulate_over_transport(empty.fabric, empty.tables, quiet(), traffic, defaults()).ok());
}

/// Messages that no engine takes, and destinations that no table names.
TEST(SimulateTransport, AMessageThatCannotGoEndsTheRun) {
  sample::Net net = sample::crossbar(2);
  sample::ListedTraffic endless = stream(2, 1, Contents::most_bytes + 1);
  const Outcome outcome = play(net, endless);
  EXPECT_EQ(outcome.run.record.ending, Ending::broken);
  ASSERT_TRUE(outcome.run.transport.loss.has_value());
  EXPECT_NE(outcome.run.transport.loss->outcome.find("4 GiB"), std::string::npos);

  for (std::uint32_t row = 0; row < net.tables.rows(); ++row)
    for (fabric::Lid lid = 1; lid < net.tables.lids(); ++lid)
      net.tables.set_out_port(row, lid, fabric::Forwarding::no_port);
  TransportSetting setting = defaults();
  setting.options.unreachable_after_ns = 50'000'000;
  sample::ListedTraffic nowhere = stream(2, 1, 10);
  EXPECT_EQ(play(net, nowhere, setting).run.record.ending, Ending::broken);
}

}  // namespace
}  // namespace holdfast::simulate
