#include "simulate/job/job_traffic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <random>
#include <tuple>

#include "simulate/job/idle_crossbar_for_tests.h"

/// Programs on an idle crossbar, where LogGP's closed forms (A. Alexandrov et al., 1995) hold to the picosecond.
namespace holdfast::simulate::job {
namespace {

using namespace sample;
using enum record::Fact;

/// One collective of all ranks; how long it takes, and by which algorithm.
Time time_of(std::uint32_t ranks, std::string_view name, const Facts& facts, const Protocol& protocol,
             Algorithm expected) {
  const Played played = play(Recording(ranks).all(name, facts).take(), protocol);
  EXPECT_EQ(played.network.ending, Ending::complete);
  EXPECT_EQ(played.jobs[0].algorithms.size(), 1u);
  EXPECT_EQ(simulate::job::name(played.jobs[0].algorithms.begin()->first.second), simulate::job::name(expected))
      << name;
  return played.end();
}

TEST(LogGP, SendAndReceive) {
  const auto played = play(Recording(2)
                               .call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, 1000}}, 7'000)
                               .call(1, "MPI_Recv", {{peer, 0}, {tag, 5}})
                               .take());
  EXPECT_EQ(played.end(0), 7'000'000 + o_send);
  EXPECT_EQ(played.end(1), 7'000'000 + hop(1000));
  EXPECT_EQ(played.jobs[0].ranks[0].computing_ps, 7'000'000);
}

TEST(Observed, RanksTimeIsDividedAmongWhatTheyDo) {
  const Program program = Recording(2)
                              .call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, 1000}}, 7'000)
                              .call(1, "MPI_Recv", {{peer, 0}, {tag, 5}})
                              .all("MPI_Barrier", {})
                              .take();
  const simulate::sample::Net net = simulate::sample::crossbar(2);
  JobTraffic traffic({{program, slow_protocol(), {0, 1}, 1}}, 2);
  traffic.observe(8, 64);
  ASSERT_TRUE(simulate(net.fabric, net.tables, quiet(), traffic).ok());
  const JobOutcome outcome = traffic.outcomes().front();
  const Timeline& timeline = traffic.timeline();
  ASSERT_EQ(traffic.observed(), (std::vector<std::uint32_t>{0, 1}));
  const auto sum = [&](std::size_t row, Activity activity) {
    double time = 0;
    for (std::size_t bin = 0; bin < timeline.bins(); ++bin)
      time += timeline.share(row, bin, activity) * static_cast<double>(timeline.bin_ps());
    return time;
  };
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const auto end = static_cast<double>(outcome.ranks[rank].end_ps);
    EXPECT_NEAR(sum(rank, Activity::computing), static_cast<double>(outcome.ranks[rank].computing_ps), 1);
    EXPECT_NEAR(sum(rank, Activity::computing) + sum(rank, Activity::message) + sum(rank, Activity::collective), end,
                1);
  }
  EXPECT_NEAR(sum(0, Activity::message), o_send, 1);
  EXPECT_NEAR(sum(1, Activity::message), static_cast<double>(7'000'000 + hop(1000)), 1);
  EXPECT_GT(sum(0, Activity::collective), sum(1, Activity::collective));
  EXPECT_EQ(outcome.ranks[0].overhead_ps, 2 * o_send + o_receive);
  // A barrier of two is a message of nothing each way.
  EXPECT_EQ(traffic.flows(), (std::vector<Flow>{{0, 1, 1000 + 2 * header}, {1, 0, header}}));
}

TEST(LogGP, RendezvousAsksFirst) {
  Protocol protocol = slow_protocol();
  protocol.eager_limit = 999;
  const Program program = Recording(2)
                              .call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, 1000}})
                              .call(1, "MPI_Recv", {{peer, 0}, {tag, 5}})
                              .take();
  const auto played = play(program, protocol);
  EXPECT_EQ(played.end(1), o_send + flight(0) + o_receive + flight(0) + hop(1000));
  EXPECT_EQ(played.jobs[0].rendezvous, 1u);
  protocol.eager_limit = 1000;
  EXPECT_EQ(play(program, protocol).end(1), hop(1000));
}

/// Packets are the same whether a message is handed over whole or in segments of whole packets.
TEST(Segments, CostNothingToAMessageAlone) {
  const Program program = Recording(2)
                              .call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, 1'000'000}})
                              .call(1, "MPI_Recv", {{peer, 0}, {tag, 5}})
                              .take();
  Protocol protocol = slow_protocol();
  protocol.segment_bytes = 0;
  const auto whole = play(program, protocol);
  for (const std::uint64_t packets : {1, 2, 16}) {
    protocol.segment_bytes = packets * 4096;
    const auto cut = play(program, protocol);
    EXPECT_EQ(cut.end(0), whole.end(0));
    EXPECT_EQ(cut.end(1), whole.end(1));
    EXPECT_EQ(cut.network.packets_sent, whole.network.packets_sent);
  }
}

/// Rank 1 asks for its own message when rank 0's is on its way, behind which the answer would stand.
TEST(Segments, AnAnswerNeedNotWaitForTheMessageBeforeIt) {
  constexpr std::int64_t size = 4'000'000;  // a millisecond
  const Program program = Recording(2)
                              .call(0, "MPI_Irecv", {{peer, 1}, {tag, 6}, {request, 0}})
                              .call(0, "MPI_Isend", {{peer, 1}, {tag, 5}, {bytes, size}, {request, 1}})
                              .call(0, "MPI_Wait", {{completes, 1}})
                              .call(0, "MPI_Wait", {{completes, 0}})
                              .call(1, "MPI_Irecv", {{peer, 0}, {tag, 5}, {request, 0}})
                              .call(1, "MPI_Test", {{concerns, 0}, {not_yet, 1}}, 20'000)
                              .call(1, "MPI_Isend", {{peer, 0}, {tag, 6}, {bytes, size}, {request, 1}}, 20'000)
                              .call(1, "MPI_Wait", {{completes, 0}})
                              .call(1, "MPI_Wait", {{completes, 1}})
                              .take();
  Protocol protocol = slow_protocol();
  const Time one_way = 4'000'000 * Time{250};
  EXPECT_LT(play(program, protocol).end(), one_way * 11 / 10);
  protocol.segment_bytes = 0;
  EXPECT_GT(play(program, protocol).end(), one_way * 19 / 10);
}

TEST(LogGP, BytesCostProcessorTimeWhereTheyAreCopied) {
  Protocol protocol = slow_protocol();
  protocol.send_byte_ps = 70;
  protocol.receive_byte_ps = 90;
  const Program program = Recording(2)
                              .call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, 1000}})
                              .call(1, "MPI_Recv", {{peer, 0}, {tag, 5}})
                              .take();
  EXPECT_EQ(play(program, protocol).end(1), hop(1000) + 160'000);
}

TEST(LogGP, RanksOfOneHost) {
  Protocol protocol = slow_protocol();
  protocol.shared_byte_ps = 50;
  Job job{Recording(2)
              .call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, 1000}})
              .call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, 10'000}})
              .call(1, "MPI_Recv", {{peer, 0}, {tag, 5}})
              .call(1, "MPI_Recv", {{peer, 0}, {tag, 5}})
              .take(),
          protocol,
          {1, 1},
          1};
  const auto played = play({job}, 2);
  const Time copy = 50'000, latency = 500'000;
  const Time first = o_send + copy + latency + o_receive;
  // The second asks when the first is copied, is answered when the receiver has the first, and is copied then.
  const Time answered = first + o_receive + latency;
  EXPECT_EQ(played.end(1), answered + o_send + 10 * copy + latency + o_receive);
  EXPECT_EQ(played.jobs[0].messages, 0u);
  EXPECT_EQ(played.jobs[0].shared_messages, 2u);
}

constexpr std::uint32_t n = 8, rounds = 3;  ///< ranks, and log2 of them

TEST(LogGP, Barriers) {
  Protocol mpich = slow_protocol();
  mpich.collectives = Rules::mpich;
  EXPECT_EQ(time_of(n, "MPI_Barrier", {}, slow_protocol(), Algorithm::recursive_doubling), rounds * hop(0));
  EXPECT_EQ(time_of(n, "MPI_Barrier", {}, mpich, Algorithm::dissemination), rounds * hop(0));
  EXPECT_EQ(time_of(7, "MPI_Barrier", {}, mpich, Algorithm::dissemination), 3 * hop(0));
}

/// Every rank: as many hops as its number has bits, and the sends before its own message, one after another.
TEST(LogGP, BinomialBroadcast) {
  Protocol mpich = slow_protocol();
  mpich.collectives = Rules::mpich;
  mpich.eager_limit = 1 << 20;
  const auto played = play(Recording(n).all("MPI_Bcast", {{bytes, 2048}, {root, 0}}).take(), mpich);
  ASSERT_EQ(played.jobs[0].algorithms.begin()->first.second, Algorithm::binomial);
  for (std::uint32_t rank = 0; rank < n; ++rank)
    EXPECT_EQ(played.end(rank), rounds * o_send + std::popcount(rank) * (flight(2048) + o_receive)) << rank;
}

TEST(LogGP, AllreduceByRecursiveDoubling) {
  Protocol protocol = slow_protocol();
  protocol.reduce_byte_ps = 40;
  EXPECT_EQ(time_of(n, "MPI_Allreduce", {{bytes, 1024}}, protocol, Algorithm::recursive_doubling),
            rounds * (hop(1024) + 1024 * 40));
}

TEST(LogGP, AllreduceByRabenseifner) {
  Protocol protocol = slow_protocol();
  protocol.collectives = Rules::mpich;
  protocol.reduce_byte_ps = 40;
  Time expected = 0;
  for (const std::uint64_t part : {2048, 1024, 512}) expected += 2 * hop(part) + static_cast<Time>(part) * 40;
  EXPECT_EQ(time_of(n, "MPI_Allreduce", {{bytes, 4096}}, protocol, Algorithm::rabenseifner), expected);
}

TEST(LogGP, Allgathers) {
  Protocol mpich = slow_protocol();
  mpich.collectives = Rules::mpich;
  mpich.eager_limit = 1 << 20;
  EXPECT_EQ(time_of(n, "MPI_Allgather", {{bytes, 256}}, slow_protocol(), Algorithm::recursive_doubling),
            hop(256) + hop(512) + hop(1024));
  EXPECT_EQ(time_of(7, "MPI_Allgather", {{bytes, 256}}, mpich, Algorithm::bruck), hop(256) + hop(512) + hop(768));
  EXPECT_EQ(time_of(2, "MPI_Allgather", {{bytes, 256}}, slow_protocol(), Algorithm::exchange), hop(256));
}

/// Many packets a message would overlap: a ring whose blocks are one packet.
TEST(LogGP, RingsAndPairs) {
  Protocol mpich = slow_protocol();
  mpich.collectives = Rules::mpich;
  mpich.eager_limit = 1 << 20;
  EXPECT_EQ(time_of(40, "MPI_Allgather", {{bytes, 2400}}, mpich, Algorithm::ring), 39 * hop(2400));
  EXPECT_EQ(
      time_of(3, "MPI_Alltoallv",
              {{bytes_to, 64}, {bytes_to, 64}, {bytes_to, 64}, {bytes_from, 64}, {bytes_from, 64}, {bytes_from, 64}},
              slow_protocol(), Algorithm::pairwise),
      2 * hop(64));
  EXPECT_EQ(time_of(16, "MPI_Alltoall", {{bytes, 64}}, mpich, Algorithm::bruck), 4 * hop(8 * 64));
}

TEST(LogGP, ReduceScatterByRecursiveHalving) {
  Protocol protocol = slow_protocol();
  protocol.collectives = Rules::mpich;
  protocol.reduce_byte_ps = 40;
  Time expected = 0;
  for (const std::uint64_t part : {2048, 1024, 512}) expected += hop(part) + static_cast<Time>(part) * 40;
  EXPECT_EQ(time_of(n, "MPI_Reduce_scatter_block", {{bytes, 512}}, protocol, Algorithm::recursive_halving), expected);
}

TEST(LogGP, ScansAndChains) {
  Protocol mpich = slow_protocol();
  mpich.collectives = Rules::mpich;
  EXPECT_EQ(time_of(n, "MPI_Scan", {{bytes, 128}}, slow_protocol(), Algorithm::linear), 7 * hop(128));
  EXPECT_EQ(time_of(n, "MPI_Scan", {{bytes, 128}}, mpich, Algorithm::recursive_doubling), rounds * hop(128));
  EXPECT_EQ(time_of(3, "MPI_Bcast", {{bytes, 16}, {root, 1}}, slow_protocol(), Algorithm::chain), 2 * hop(16));
}

/// Up the tree: the last message of each child waits for none of the others, which were sent at the same time.
TEST(LogGP, GatherByBinomialTree) {
  Protocol mpich = slow_protocol();
  mpich.collectives = Rules::mpich;
  EXPECT_EQ(time_of(n, "MPI_Gather", {{bytes, 256}, {root, 0}}, mpich, Algorithm::binomial),
            hop(256) + hop(512) + hop(1024));
}

// ---------------------------------------------------------------------------------------------- what programs may do

TEST(JobTraffic, NonblockingOverlapsComputing) {
  const auto played = play(Recording(2)
                               .call(0, "MPI_Isend", {{peer, 1}, {tag, 5}, {bytes, 1000}, {request, 0}})
                               .call(0, "MPI_Wait", {{completes, 0}}, 50'000)
                               .call(1, "MPI_Irecv", {{peer, 0}, {tag, 5}, {request, 0}})
                               .call(1, "MPI_Wait", {{completes, 0}}, 50'000)
                               .take());
  EXPECT_EQ(played.end(0), o_send + 50'000'000);
  EXPECT_EQ(played.end(1), 50'000'000 + o_receive);  // it came meanwhile, and was seen by the wait
}

TEST(JobTraffic, ARendezvousWaitsForTheNextCallUnlessThereIsAThreadForIt) {
  Recording recording(2);
  recording.call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, 1000}})
      .call(1, "MPI_Irecv", {{peer, 0}, {tag, 5}, {request, 0}})
      .call(1, "MPI_Wait", {{completes, 0}}, 50'000);
  const Program program = recording.take();
  Protocol protocol = slow_protocol();
  protocol.eager_limit = 0;
  EXPECT_EQ(play(program, protocol).end(1), 50'000'000 + o_receive + flight(0) + hop(1000));
  protocol.progress = Progress::always;
  EXPECT_EQ(play(program, protocol).end(1), 50'000'000);
}

/// A request that comes while rank 1 computes is answered at its wait, neither at the receive nor at the send.
TEST(JobTraffic, CallsThatOnlyBeginDoNotLook) {
  Protocol protocol = slow_protocol();
  protocol.eager_limit = 0;
  Recording recording(2);
  recording.call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, 1000}})
      .call(1, "MPI_Irecv", {{peer, 0}, {tag, 5}, {request, 0}}, 20'000)
      .call(1, "MPI_Wait", {{completes, 0}}, 50'000);
  EXPECT_EQ(play(recording.take(), protocol).end(1), 70'000'000 + o_receive + flight(0) + hop(1000));
  Recording other(3);
  other.call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, 1000}})
      .call(1, "MPI_Irecv", {{peer, 0}, {tag, 5}, {request, 0}}, 10'000)
      .call(1, "MPI_Isend", {{peer, 2}, {tag, 6}, {bytes, 1000}, {request, 1}}, 10'000)
      .call(1, "MPI_Wait", {{completes, 0}}, 50'000)
      .call(1, "MPI_Wait", {{completes, 1}})
      .call(2, "MPI_Recv", {{peer, 1}, {tag, 6}});
  EXPECT_GE(play(other.take(), protocol).end(0), 70'000'000);
}

TEST(JobTraffic, QuestionsInVainLookIntoMpi) {
  Protocol protocol = slow_protocol();
  protocol.eager_limit = 0;
  const auto played = play(Recording(2)
                               .call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, 1000}})
                               .call(1, "MPI_Irecv", {{peer, 0}, {tag, 5}, {request, 0}})
                               .call(1, "MPI_Test", {{concerns, 0}, {not_yet, 1}}, 20'000)
                               .call(1, "MPI_Wait", {{completes, 0}}, 50'000)
                               .take(),
                           protocol);
  EXPECT_EQ(played.end(1), 70'000'000 + o_receive);  // answered at the question, the data are there at the wait
}

TEST(JobTraffic, WildcardsTakeWhatTheyTookWhenRecorded) {
  Recording recording(3);
  recording.call(0, "MPI_Recv", {{peer, record::anybody}, {tag, record::any_tag}, {source, 2}, {source_tag, 9}})
      .call(0, "MPI_Irecv", {{peer, record::anybody}, {tag, 9}, {request, 0}})
      .call(0, "MPI_Waitany", {{completes, 0}, {source, 1}})
      .call(1, "MPI_Send", {{peer, 0}, {tag, 9}, {bytes, 8}})
      .call(2, "MPI_Send", {{peer, 0}, {tag, 9}, {bytes, 8}}, 900'000);
  const auto played = play(recording.take());
  EXPECT_EQ(played.network.ending, Ending::complete);
  EXPECT_EQ(played.end(0), 900'000'000 + hop(8) + o_receive);
}

TEST(JobTraffic, CancelledReceivesAreNone) {
  Recording recording(2);
  recording.call(0, "MPI_Irecv", {{peer, 1}, {tag, 9}, {request, 0}})
      .call(0, "MPI_Cancel", {{cancels, 0}})
      .call(0, "MPI_Wait", {{completes, 0}, {cancelled, 1}})
      .call(0, "MPI_Recv", {{peer, 1}, {tag, 9}})
      .call(1, "MPI_Send", {{peer, 0}, {tag, 9}, {bytes, 8}});
  EXPECT_EQ(play(recording.take()).network.ending, Ending::complete);
}

TEST(JobTraffic, PersistentAndPartitioned) {
  Recording recording(2);
  recording.call(0, "MPI_Send_init", {{peer, 1}, {tag, 9}, {bytes, 8}, {request, 0}})
      .call(0, "MPI_Start", {{starts, 0}})
      .call(0, "MPI_Wait", {{completes, 0}})
      .call(0, "MPI_Start", {{starts, 0}})
      .call(0, "MPI_Wait", {{completes, 0}})
      .call(0, "MPI_Psend_init", {{peer, 1}, {tag, 7}, {bytes, 800}, {partitions, 2}, {request, 1}})
      .call(0, "MPI_Start", {{starts, 1}})
      .call(0, "MPI_Pready", {{concerns, 1}, {ready_from, 1}, {ready_to, 1}}, 100'000)
      .call(0, "MPI_Pready", {{concerns, 1}, {ready_from, 0}, {ready_to, 0}}, 100'000)
      .call(0, "MPI_Wait", {{completes, 1}})
      .call(1, "MPI_Recv", {{peer, 0}, {tag, 9}})
      .call(1, "MPI_Recv", {{peer, 0}, {tag, 9}})
      .call(1, "MPI_Precv_init", {{peer, 0}, {tag, 7}, {partitions, 2}, {request, 0}})
      .call(1, "MPI_Start", {{starts, 0}})
      .call(1, "MPI_Wait", {{completes, 0}});
  const auto played = play(recording.take());
  EXPECT_EQ(played.network.ending, Ending::complete);
  EXPECT_EQ(played.jobs[0].messages, 3u);
  EXPECT_EQ(played.end(1), 2 * o_send + 200'000'000 + hop(800));
}

TEST(JobTraffic, ProbesWaitForTheMessage) {
  Recording recording(2);
  recording.call(1, "MPI_Probe", {{peer, 0}, {tag, record::any_tag}, {source_tag, 9}})
      .call(1, "MPI_Recv", {{peer, 0}, {tag, 9}})
      .call(0, "MPI_Send", {{peer, 1}, {tag, 9}, {bytes, 8}}, 10'000);
  EXPECT_EQ(play(recording.take()).end(1), 10'000'000 + hop(8));
}

TEST(JobTraffic, OneSided) {
  Recording recording(2);
  recording.call(0, "MPI_Put", {{window, 0}, {peer, 1}, {bytes, 1000}})
      .call(0, "MPI_Win_flush", {{window, 0}, {peer, 1}})
      .call(0, "MPI_Rget", {{window, 0}, {peer, 1}, {bytes, 500}, {request, 0}})
      .call(0, "MPI_Wait", {{completes, 0}});
  const auto played = play(recording.take());
  EXPECT_EQ(played.network.ending, Ending::complete);
  EXPECT_EQ(played.end(0), o_send + flight(1000) + flight(0) + o_send + flight(0) + flight(500));
}

TEST(JobTraffic, ThreadsGoOnBesideEachOther) {
  Recording recording(2);
  recording.call(0, "MPI_Recv", {{peer, 1}, {tag, 1}}, 0, 0)
      .call(0, "MPI_Send", {{peer, 1}, {tag, 2}, {bytes, 8}}, 5'000, 1)
      .call(1, "MPI_Recv", {{peer, 0}, {tag, 2}})
      .call(1, "MPI_Send", {{peer, 0}, {tag, 1}, {bytes, 8}});
  EXPECT_EQ(play(recording.take()).end(0), 5'000'000 + 2 * hop(8));
}

TEST(JobTraffic, ComputingIsScaled) {
  Job job{Recording(1).call(0, "MPI_Barrier", {}, 8'000).take(), slow_protocol(), {0}, 0.25};
  EXPECT_EQ(play({job}, 2).end(0), 2'000'000);
}

TEST(JobTraffic, JobsDisturbEachOther) {
  const auto sends = [](std::uint32_t messages) {
    Recording recording(2);
    for (std::uint32_t i = 0; i < messages; ++i) {
      recording.call(0, "MPI_Isend", {{peer, 1}, {tag, 5}, {bytes, 12'000}, {request, i}});
      recording.call(1, "MPI_Recv", {{peer, 0}, {tag, 5}});
    }
    return recording.take();
  };
  const Job one{sends(20), slow_protocol(), {0, 2}, 1};
  const Job other{sends(20), slow_protocol(), {1, 2}, 1};  // to the same host
  const Time alone = play({one}, 3).end();
  const Played both = play({one, other}, 3);
  EXPECT_EQ(both.network.ending, Ending::complete);
  EXPECT_GT(both.end(), alone + alone / 4);
}

TEST(JobTraffic, WhatWaitsForEverIsTold) {
  Recording recording(3);
  recording.call(1, "MPI_Recv", {{peer, 0}, {tag, 5}})
      .call(2, "MPI_Send", {{peer, 0}, {tag, 6}, {bytes, 8}})
      .call(0, "MPI_Barrier", {});
  const auto played = play(recording.take());
  EXPECT_EQ(played.network.ending, Ending::stuck);
  const JobSummary summary = summarise(played.given[0], played.jobs[0]);
  EXPECT_FALSE(summary.ended);
  ASSERT_EQ(summary.notes.size(), 2u);
  EXPECT_EQ(summary.notes[0], "rank 0 waits for ever for the others in barrier, and 1 more ranks wait");
  EXPECT_EQ(summary.notes[1], "rank 0 did not receive what rank 2 sent with tag 6");
}

TEST(JobTraffic, EqualRunsAreEqualToTheByte) {
  const auto once = [] {
    Recording recording(8);
    recording.all("MPI_Allreduce", {{bytes, 40'000}}, 1'000)
        .all("MPI_Alltoall", {{bytes, 3'000}}, 2'000)
        .all("MPI_Bcast", {{bytes, 100'000}, {root, 3}});
    Job job{recording.take(), slow_protocol(), {0, 0, 1, 1, 2, 2, 3, 3}, 1};
    const Played played = play({job}, 4);
    const JobSummary summary = summarise(job, played.jobs[0]);
    return simulate::to_json(played.network, false).dump() + to_json(summary, job, played.jobs[0]).dump();
  };
  EXPECT_EQ(once(), once());
}

TEST(Programs, BadOnesAreRefused) {
  const auto refused = [](const Facts& facts) {
    Recording recording(2);
    recording.call(0, "MPI_Send", facts);
    return !recording.builder().finish().ok();
  };
  EXPECT_TRUE(refused({{peer, 2}, {tag, 0}, {bytes, 8}}));
  EXPECT_TRUE(refused({{peer, 1}, {tag, 0}, {bytes, std::int64_t{1} << 50}}));
  EXPECT_FALSE(refused({{peer, record::nobody}, {tag, 0}, {bytes, 8}}));
  Recording recording(1);
  recording.call(0, "MPI_Barrier", {}, std::int64_t{1} << 60);
  EXPECT_FALSE(recording.builder().finish().ok());
}

/// Rounds of messages among six ranks, eager and by rendezvous, some of a reduction; all begun in any order and awaited
/// in any order, with and without computing between the calls.
Program random_rounds(std::uint32_t seed) {
  constexpr std::uint32_t ranks = 6;
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random() % bound); };
  const auto time = [&] { return static_cast<std::int64_t>(below(3) == 0 ? 0 : below(20'000)); };
  struct Begun {
    std::string name;
    Facts facts;
  };
  Recording recording(ranks);
  std::int64_t next_request = 0;
  for (std::int64_t round = 0; round < 30; ++round) {
    std::vector<std::vector<Begun>> begins(ranks);
    std::vector<std::vector<std::int64_t>> waits(ranks);
    for (std::uint32_t message = 0; message < 8; ++message) {
      const std::uint32_t from = below(ranks), to = (from + 1 + below(ranks - 1)) % ranks;
      const std::int64_t number = round * 8 + message, size = below(2) == 0 ? below(2'000) : below(40'000);
      begins[from].push_back({"MPI_Isend", {{peer, to}, {tag, number}, {bytes, size}, {request, next_request}}});
      waits[from].push_back(next_request++);
      begins[to].push_back({"MPI_Irecv", {{peer, from}, {tag, number}, {request, next_request}}});
      waits[to].push_back(next_request++);
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::shuffle(begins[rank].begin(), begins[rank].end(), random);
      std::shuffle(waits[rank].begin(), waits[rank].end(), random);
      for (const Begun& one : begins[rank]) recording.call(rank, one.name, one.facts, time());
      for (const std::int64_t one : waits[rank]) recording.call(rank, "MPI_Wait", {{completes, one}}, time());
    }
    if (below(4) == 0) recording.all("MPI_Allreduce", {{bytes, 64}}, time());
  }
  return recording.take();
}

/// What went over the network, and what the ranks had come to.
struct Course {
  std::vector<std::tuple<Time, std::uint32_t, std::uint32_t>> packets;  ///< in memory at, source, destination
  std::vector<std::pair<Time, Time>> ranks;                             ///< computing, overhead
  std::uint64_t messages = 0, shared = 0;
  bool operator==(const Course&) const = default;
};

Course course_of(Program program, std::vector<std::uint32_t> hosts, Time limit) {
  const simulate::sample::Net net = simulate::sample::crossbar(6);
  JobTraffic traffic({{std::move(program), slow_protocol(), std::move(hosts), 1}}, 6);
  std::vector<Delivery> deliveries;
  Control control;
  control.limit = limit;
  control.deliveries = &deliveries;
  EXPECT_TRUE(simulate(net.fabric, net.tables, quiet(), traffic, control).ok());
  Course course;
  for (const Delivery& one : deliveries) course.packets.emplace_back(one.at, one.source, one.destination);
  std::sort(course.packets.begin(), course.packets.end());
  const JobOutcome outcome = traffic.outcomes().front();
  for (const RankOutcome& rank : outcome.ranks) course.ranks.emplace_back(rank.computing_ps, rank.overhead_ps);
  course.messages = outcome.messages;
  course.shared = outcome.shared_messages;
  return course;
}

/// A second thread that only computes makes the network's events and a rank's meet one by one.
TEST(Ahead, AThreadThatGoesOnByItselfSeesAndSendsTheSame) {
  const std::vector<std::vector<std::uint32_t>> placements{{0, 1, 2, 3, 4, 5}, {0, 0, 1, 1, 2, 2}};
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const Program alone = random_rounds(seed);
    Program in_step = alone;
    Step computing;
    computing.before_ns = 100'000'000'000;
    for (RankProgram& rank : in_step.ranks) rank.threads.push_back({computing});
    for (const std::vector<std::uint32_t>& hosts : placements) {
      const Course whole = course_of(alone, hosts, never);
      ASSERT_GT(whole.packets.size(), 200u);
      EXPECT_EQ(whole, course_of(in_step, hosts, never)) << "seed " << seed;
      const Time half = std::get<0>(whole.packets[whole.packets.size() / 2]);
      EXPECT_EQ(course_of(alone, hosts, half).packets, course_of(in_step, hosts, half).packets) << "seed " << seed;
    }
  }
}

/// What a rank has come to when a run is cut short is nothing that it began after that.
TEST(Ahead, NothingBeginsAfterTheLimit) {
  Recording recording(2);
  for (std::int64_t message = 0; message < 50; ++message) {
    recording.call(0, "MPI_Isend", {{peer, 1}, {tag, message}, {bytes, 100}, {request, message}}, 1'000'000);
    recording.call(1, "MPI_Recv", {{peer, 0}, {tag, message}});
  }
  for (std::int64_t message = 0; message < 50; ++message) recording.call(0, "MPI_Wait", {{completes, message}});
  const Program program = recording.take();
  const Time millisecond = 1'000'000'000;
  const simulate::sample::Net net = simulate::sample::crossbar(2);
  JobTraffic traffic({{program, slow_protocol(), {0, 1}, 1}}, 2);
  Control control;
  control.limit = 10 * millisecond + millisecond / 2;
  ASSERT_TRUE(simulate(net.fabric, net.tables, quiet(), traffic, control).ok());
  EXPECT_EQ(traffic.outcomes().front().messages, 10u);
  EXPECT_EQ(traffic.outcomes().front().ranks[0].computing_ps, 11 * millisecond);
}

}  // namespace
}  // namespace holdfast::simulate::job
