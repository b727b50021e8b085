#include "simulate/job/in_network.h"

#include <gtest/gtest.h>

#include "simulate/job/idle_crossbar_for_tests.h"

/// Collectives of switches in a replayed job, against pen and paper. How they come about is src/simulate/collective's.
namespace holdfast::simulate::job {
namespace {

using namespace sample;
using enum record::Fact;

constexpr Time cable = 42'700, in_switch = 100'000, in_adapter = 100'000;

/// A packet of so many bytes of operands on a link of QDR.
Time packet(std::uint64_t size) {
  return 250 * static_cast<Time>(size + 26);
}

/// From when the last host gave its packet of operands to when all have the result, over one switch: up, which takes
/// the packet in whole, and down.
Time through(std::uint64_t size) {
  return in_adapter + packet(size) + cable + in_switch + packet(size) + cable + in_adapter;
}

Played play_in_network(Program program, std::uint32_t hosts, std::uint32_t each = 1, int degree = 1) {
  Job job{std::move(program), slow_protocol(), {}, 1};
  job.in_network = true;
  job.protection.degree = degree;
  const auto ranks = static_cast<std::uint32_t>(job.program.ranks.size());
  for (int replica = 0; replica < degree; ++replica)
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      job.hosts.push_back(static_cast<std::uint32_t>(replica) * (ranks / each) + rank / each);
  const simulate::sample::Net net = simulate::sample::crossbar(hosts);
  JobTraffic traffic({job}, hosts);
  traffic.use(std::make_unique<InNetwork>(net.fabric, quiet()));
  Played played;
  auto record = simulate(net.fabric, net.tables, quiet(), traffic);
  EXPECT_TRUE(record.ok()) << record.status().message();
  if (record.ok()) played.network = record.value();
  EXPECT_EQ(played.network.ending, Ending::complete);
  played.jobs = traffic.outcomes();
  return played;
}

TEST(InNetwork, AnAllreduceBeginsWithTheLastRank) {
  const std::int64_t late = 7'000;
  Recording recording(5);
  for (std::uint32_t rank = 0; rank < 5; ++rank)
    recording.call(rank, "MPI_Allreduce", {{bytes, 1000}}, rank == 3 ? late : 10);
  const Played played = play_in_network(recording.take(), 5);
  for (std::uint32_t rank = 0; rank < 5; ++rank)
    EXPECT_EQ(played.end(rank), late * ps_per_ns + o_send + through(1000) + o_receive) << rank;
  ASSERT_EQ(played.jobs[0].algorithms.size(), 1U);
  const auto& [which, use] = *played.jobs[0].algorithms.begin();
  EXPECT_EQ(name(which.second), "in-network");
  EXPECT_EQ(use.calls, 1U);
  EXPECT_EQ(played.jobs[0].messages, 0U);
}

TEST(InNetwork, LongVectorsArePackets) {
  const Played played = play_in_network(Recording(4).all("MPI_Allreduce", {{bytes, 5 * 4096}}).take(), 4);
  EXPECT_EQ(played.end(), o_send + through(4096) + 4 * packet(4096) + o_receive);
}

TEST(InNetwork, ABarrierIsAPacketWithoutOperands) {
  const Played played = play_in_network(Recording(6).all("MPI_Barrier", {}).take(), 6);
  EXPECT_EQ(played.end(), o_send + through(0) + o_receive);
}

/// Those who only give are done when their adapter has it.
TEST(InNetwork, AReductionIsOverForTheOthersWhenTheyGave) {
  const Played played = play_in_network(Recording(4).all("MPI_Reduce", {{bytes, 800}, {root, 2}}).take(), 4);
  for (const std::uint32_t rank : {0U, 1U, 3U}) EXPECT_EQ(played.end(rank), o_send);
  EXPECT_EQ(played.end(2), o_send + through(800) + o_receive);
}

/// Who comes later than the data finds them there.
TEST(InNetwork, ABroadcastWaitsForItsRootAlone) {
  Recording recording(4);
  const std::int64_t late = 50'000;
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    recording.call(rank, "MPI_Bcast", {{bytes, 640}, {root, 1}}, rank == 3 ? late : 0);
  const Played played = play_in_network(recording.take(), 4);
  EXPECT_EQ(played.end(1), o_send);
  EXPECT_EQ(played.end(0), o_send + through(640) + o_receive);
  EXPECT_EQ(played.end(2), o_send + through(640) + o_receive);
  EXPECT_EQ(played.end(3), late * ps_per_ns + o_receive);
}

/// Ranks of a host meet in its memory; one of them goes to the network.
TEST(InNetwork, OneRankSpeaksForItsHost) {
  const Program program = Recording(6).all("MPI_Allreduce", {{bytes, 64}}).all("MPI_Barrier", {}).take();
  const Played played = play_in_network(program, 3, 2);
  for (const auto& [which, use] : played.jobs[0].algorithms) EXPECT_EQ(name(which.second), "in-network");
  EXPECT_EQ(played.jobs[0].messages, 0U);
  EXPECT_GT(played.jobs[0].shared_messages, 0U);
}

TEST(InNetwork, WhatSwitchesCannotDoAndJobsOfOneHostAreMessages) {
  const Played others = play_in_network(Recording(4).all("MPI_Alltoall", {{bytes, 64}}).take(), 4);
  EXPECT_NE(name(others.jobs[0].algorithms.begin()->first.second), "in-network");
  EXPECT_GT(others.jobs[0].messages, 0U);
  const Played alone = play_in_network(Recording(2).all("MPI_Allreduce", {{bytes, 64}}).take(), 2, 2);
  EXPECT_NE(name(alone.jobs[0].algorithms.begin()->first.second), "in-network");
}

/// Each replica of the job is a world with switches of its own, and results are compared as ever.
TEST(InNetwork, ReplicasCompareWhatTheirSwitchesMade) {
  const Program program = Recording(4).all("MPI_Allreduce", {{bytes, 1000}}).all("MPI_Bcast", {{bytes, 64}}).take();
  const Played played = play_in_network(program, 8, 1, 2);
  ASSERT_TRUE(played.jobs[0].replication.has_value());
  EXPECT_EQ(played.jobs[0].replication->counters[replicate::Count::mismatches], 0U);
  EXPECT_EQ(played.jobs[0].replication->counters[replicate::Count::collectives], 2U * 4 * 2);
  for (const auto& [which, use] : played.jobs[0].algorithms) EXPECT_EQ(name(which.second), "in-network");
}

TEST(InNetwork, IsRefusedWhereItsModelEnds) {
  EXPECT_TRUE(check_in_network(false, false).ok());
  EXPECT_NE(check_in_network(true, false).wrong().find("over the transport"), std::string::npos);
  EXPECT_NE(check_in_network(false, true).wrong().find("fails during the run"), std::string::npos);
  EXPECT_TRUE(read_collectives("in-network").value());
  EXPECT_FALSE(read_collectives("mpi").value());
  EXPECT_NE(read_collectives("in-netwrok").status().remedy().find("in-network"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::simulate::job
