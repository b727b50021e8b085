#include "simulate/job/replica_process.h"

#include <array>
#include <nlohmann/json.hpp>

#include "simulate/job/idle_crossbar_for_tests.h"

/// The shipped engine in the replay of programs, on an idle crossbar with a process a host.
namespace holdfast::simulate::job {
namespace {

using namespace sample;
using enum record::Fact;
using replicate::Count;
using replicate::Protocol::all_to_all;
using replicate::Protocol::msg_plus_hash;
using replicate::Protocol::msg_plus_vote;

constexpr std::array protocols{msg_plus_hash, msg_plus_vote, all_to_all};
constexpr std::int64_t digest_ps = 15, copy_ps = 20;

Job replicated(Program program, int degree, replicate::Protocol protocol, const std::string& inject = "") {
  Job job{std::move(program), slow_protocol(), {}, 1, {}};
  job.protection.degree = degree;
  job.protection.protocol = protocol;
  job.protection.costs = {digest_ps, copy_ps};
  job.protection.inject = inject;
  const auto processes = static_cast<std::uint32_t>(job.program.ranks.size()) * static_cast<std::uint32_t>(degree);
  for (std::uint32_t process = 0; process < processes; ++process) job.hosts.push_back(process);
  EXPECT_TRUE(check(job.protection, static_cast<std::uint32_t>(job.program.ranks.size())).ok());
  return job;
}

Played play(const Job& job) {
  return sample::play(std::vector<Job>{job}, std::max<std::uint32_t>(2, static_cast<std::uint32_t>(job.hosts.size())));
}

const ReplicationOutcome& replication(const Played& played) {
  return *played.jobs[0].replication;
}

Program one_message(std::int64_t length = 1000) {
  return Recording(2)
      .call(0, "MPI_Send", {{peer, 1}, {tag, 5}, {bytes, length}})
      .call(1, "MPI_Recv", {{peer, 0}, {tag, 5}})
      .take();
}

// ------------------------------------------------------------------------------------------------------ closed forms

constexpr Time digest_time = 1000 * digest_ps;
/// A control message of 64 bytes, and until it was read.
Time record_flight() {
  return flight(64);
}
/// When the receiver has the message and its digest.
Time digested() {
  return o_send + flight(1000) + o_receive + digest_time;
}
/// When the n-th record of the sender leaves, from 1.
Time record_leaves(int n) {
  return (1 + n) * o_send + digest_time;
}

TEST(Replicated, TwoReplicasByHash) {
  const Played played = play(replicated(one_message(), 2, msg_plus_hash));
  const Time delivered = std::max(digested(), record_leaves(1) + record_flight()) + o_receive;
  const Time farewell = o_send + record_flight() + o_receive;
  EXPECT_EQ(played.network.ending, Ending::complete);
  for (const std::uint32_t replica : {0U, 1U}) {
    EXPECT_EQ(played.end(2 * replica), record_leaves(1) + farewell);
    EXPECT_EQ(played.end(2 * replica + 1), delivered + farewell);
  }
  EXPECT_EQ(replication(played).counters[Count::messages], 2u);
  EXPECT_EQ(replication(played).counters[Count::bytes], 2000u);
}

TEST(Replicated, ThreeReplicasByHashAndByVote) {
  const Time first = record_leaves(1) + record_flight(), second = record_leaves(2) + record_flight();
  const Time farewells = 2 * o_send + record_flight() + 2 * o_receive;
  const Time by_hash = std::max(digested(), first) + o_receive;
  EXPECT_EQ(play(replicated(one_message(), 3, msg_plus_hash)).end(), by_hash + farewells);
  const Time by_vote = std::max(by_hash, second) + o_receive;
  EXPECT_EQ(play(replicated(one_message(), 3, msg_plus_vote)).end(), by_vote + farewells);
}

TEST(Replicated, AResultOfACollectiveCostsAnExchangeOfRecords) {
  const Program program = Recording(2).all("MPI_Allreduce", {{bytes, 800}}).take();
  const Time native = sample::play(program).end();
  const Time result = native + 800 * digest_ps + o_send + record_flight() + o_receive;
  EXPECT_EQ(play(replicated(program, 2, msg_plus_hash)).end(), result + o_send + record_flight() + o_receive);
}

TEST(Replicated, ADigestIsOwedToTheProcessor) {
  Job job = replicated(one_message(), 2, msg_plus_hash);
  const Time before = play(job).end();
  job.protection.costs.digest_byte_ps += 7;
  EXPECT_EQ(play(job).end(), before + 7000);  // the receiver's; the sender's is over earlier
}

// ------------------------------------------------------------------------------------------------------- what is sent

TEST(Replicated, CopiesAndRecordsOfAMessage) {
  // docs/results/protocols.md; RedMPI, section 3.2: r^2 messages under all-to-all, r and r digests under msg-plus-hash.
  for (const int degree : {2, 3, 4, 5}) {
    const auto r = static_cast<std::uint64_t>(degree);
    const Played hash = play(replicated(one_message(), degree, msg_plus_hash));
    const Played vote = play(replicated(one_message(), degree, msg_plus_vote));
    const Played all = play(replicated(one_message(), degree, all_to_all));
    const std::uint64_t farewells = 2 * r * (r - 1);
    for (const Played* played : {&hash, &vote, &all}) {
      EXPECT_EQ(played->jobs[0].messages, r);
      EXPECT_EQ(replication(*played).counters[Count::messages], r);
      EXPECT_FALSE(replication(*played).incident);
    }
    EXPECT_EQ(replication(hash).counters[Count::records_sent], r);
    EXPECT_EQ(replication(hash).records, r + farewells);
    EXPECT_EQ(replication(hash).record_bytes, 64 * (r + farewells));
    EXPECT_EQ(replication(vote).counters[Count::records_sent], r * (r - 1));
    EXPECT_EQ(replication(vote).records, r * (r - 1) + farewells);
    EXPECT_EQ(all.jobs[0].messages + replication(all).copies, r * r);
    EXPECT_EQ(replication(all).copy_bytes, 1000 * r * (r - 1));
  }
}

TEST(Replicated, ALongCopyTravelsAsALongMessageDoes) {
  const Program program = one_message(100'000);  // above the eager limit
  const Played hash = play(replicated(program, 3, msg_plus_hash));
  const Played all = play(replicated(program, 3, all_to_all));
  EXPECT_EQ(replication(all).copy_bytes, 600'000u);
  EXPECT_GT(all.end(),
            hash.end() + 100'000 * 250);  // two more at the receiver's PCI Express, side by side with its own
}

// -------------------------------------------------------------------------------------------------------------- flips

TEST(Flips, TwoReplicasEndTheJob) {
  for (const replicate::Protocol protocol : protocols) {
    const Played played = play(replicated(one_message(), 2, protocol, "flip rank 0 replica 1 message 1 bit 62"));
    ASSERT_TRUE(replication(played).incident);
    const JobIncident& incident = *replication(played).incident;
    EXPECT_EQ(incident.incident, replicate::Incident::uncorrected);
    EXPECT_EQ(incident.rank, 1u);
    EXPECT_NE(incident.message.find("message from rank 0 to rank 1 (tag 5, 1000 bytes)"), std::string::npos);
    EXPECT_EQ(exit_for(incident.incident), Exit::uncorrected);
    const JobSummary summary = summarise(played.given[0], played.jobs[0]);
    EXPECT_FALSE(summary.ended);
    EXPECT_EQ(summary.notes.back().rfind("the job ends: rank 1 replica ", 0), 0u);
    EXPECT_EQ(played.network.ending, Ending::complete);  // of the network, which has nothing more to do
  }
}

TEST(Flips, ThreeReplicasCorrectThem) {
  for (const replicate::Protocol protocol : protocols)
    for (const char* replica : {"0", "1", "2"}) {
      const Played clean = play(replicated(one_message(), 3, protocol));
      const Played played = play(
          replicated(one_message(), 3, protocol, std::string("flip rank 0 replica ") + replica + " message 1 bit 62"));
      // By vote: a question, and the word of the one that has sent its copy already.
      const std::uint64_t statements = protocol == msg_plus_hash ? 4 : protocol == msg_plus_vote ? 2 : 0;
      const ReplicationOutcome& found = replication(played);
      EXPECT_FALSE(found.incident);
      EXPECT_EQ(found.counters[Count::injected], 1u);
      EXPECT_EQ(found.counters[Count::corrections], 1u);
      EXPECT_EQ(found.wrong_copies.size(), 1u);
      EXPECT_EQ(found.wrong_copies.begin()->first, std::pair(0, std::atoi(replica)));
      EXPECT_EQ(found.counters[Count::statements], statements);
      EXPECT_EQ(found.copies, protocol == all_to_all ? 6u : 1u);
      if (protocol != all_to_all) {
        EXPECT_GT(played.end(), clean.end() + flight(1000));
      }
    }
}

TEST(Flips, OtherMessagesAreLeftAlone) {
  Recording recording(2);
  for (int i = 0; i < 8; ++i)
    recording.call(0, "MPI_Send", {{peer, 1}, {tag, i}, {bytes, 100}})
        .call(1, "MPI_Recv", {{peer, 0}, {tag, i}})
        .call(1, "MPI_Send", {{peer, 0}, {tag, i}, {bytes, 100}})
        .call(0, "MPI_Recv", {{peer, 1}, {tag, i}});
  const Program program = recording.take();
  const Played played = play(replicated(program, 3, msg_plus_hash, "flip rank 1 replica 2 message 5 bit 9"));
  EXPECT_FALSE(replication(played).incident);
  EXPECT_EQ(replication(played).counters[Count::mismatches], 1u);
  EXPECT_EQ(replication(played).counters[Count::corrections], 1u);
  EXPECT_EQ(replication(played).counters[Count::messages], 3 * 16u);
}

TEST(Flips, ResultsOfCollectivesAreCorrectedAtEveryRank) {
  const Program program = Recording(4).all("MPI_Bcast", {{bytes, 500}, {root, 1}}).take();
  const Played two = play(replicated(program, 2, msg_plus_hash, "flip rank 1 replica 0 message 1 bit 8"));
  ASSERT_TRUE(replication(two).incident);
  EXPECT_NE(replication(two).incident->message.find("result of bcast at rank"), std::string::npos);
  const Played three = play(replicated(program, 3, msg_plus_hash, "flip rank 1 replica 0 message 1 bit 8"));
  EXPECT_FALSE(replication(three).incident);
  EXPECT_EQ(replication(three).counters[Count::corrections], 4u);
}

/// Ranks that are wrong in different replicas: three different results.
TEST(Flips, AllreducesWithoutAMajorityAreMadeAgain) {
  const Program program = Recording(3).all("MPI_Allreduce", {{bytes, 800}}).take();
  const std::string both = "flip rank 0 replica 0 message 1 bit 8; flip rank 1 replica 1 message 1 bit 300";
  const Played clean = play(replicated(program, 3, msg_plus_vote));
  const Played played = play(replicated(program, 3, msg_plus_vote, both));
  EXPECT_FALSE(replication(played).incident) << replication(played).incident->message;
  EXPECT_EQ(replication(played).counters[Count::corrections], 2u);  // of the operands
  EXPECT_EQ(played.jobs[0].messages, 2 * clean.jobs[0].messages);
  EXPECT_EQ(played.network.ending, Ending::complete);
}

/// One block of each rank: settled block by block.
TEST(Flips, GatheredBlocksAreVotedOnByThemselves) {
  const Program program = Recording(3).all("MPI_Allgather", {{bytes, 80}}).take();
  const std::string both = "flip rank 0 replica 0 message 1 bit 8; flip rank 1 replica 1 message 1 bit 8";
  const Played played = play(replicated(program, 3, msg_plus_hash, both));
  EXPECT_FALSE(replication(played).incident) << replication(played).incident->message;
  EXPECT_EQ(replication(played).counters[Count::corrections], 6u);  // two replicas of each of three ranks
  EXPECT_EQ(replication(played).copies, 3 * 6u);
}

/// Reductions whose ranks get different results compare what goes in.
TEST(Flips, OperandsOfReductionsAreComparedBefore) {
  for (const char* operation : {"MPI_Reduce", "MPI_Scan", "MPI_Exscan", "MPI_Reduce_scatter_block"}) {
    const Program program = Recording(3).all(operation, {{bytes, 240}, {root, 0}}).take();
    const std::string both = "flip rank 0 replica 0 message 1 bit 8; flip rank 1 replica 1 message 1 bit 8";
    const Played played = play(replicated(program, 3, msg_plus_hash, both));
    EXPECT_FALSE(replication(played).incident) << operation << ": " << replication(played).incident->message;
    EXPECT_EQ(replication(played).counters[Count::corrections], 2u) << operation;
  }
}

TEST(Flips, ControlMessagesWithAFlippedBitAreRepaired) {
  const Played one =
      play(replicated(one_message(), 3, msg_plus_hash, "corrupt-header rank 0 replica 1 message 1 bit 300"));
  EXPECT_FALSE(replication(one).incident);
  EXPECT_EQ(replication(one).counters[Count::records_repaired], 1u);
  const Played three = play(replicated(one_message(), 3, msg_plus_hash,
                                       "corrupt-header rank 0 replica 1 message 1 bit 300; corrupt-header rank 0 "
                                       "replica 1 message 1 bit 301; corrupt-header rank 0 replica 1 message 1 bit 7"));
  ASSERT_TRUE(replication(three).incident);
  EXPECT_EQ(replication(three).incident->replica, 2u);
}

TEST(Flips, OneJobEndsAndTheOtherGoesOn) {
  Job bad = replicated(one_message(), 2, msg_plus_hash, "flip rank 0 replica 1 message 1 bit 62");
  Job good = replicated(Recording(2).all("MPI_Barrier", {}, 50'000).all("MPI_Allreduce", {{bytes, 8}}).take(), 3,
                        msg_plus_vote);
  for (std::uint32_t& host : good.hosts) host += 4;
  const Played played = sample::play({bad, good}, 10);
  EXPECT_TRUE(played.jobs[0].replication->incident);
  EXPECT_FALSE(played.jobs[1].replication->incident);
  EXPECT_TRUE(summarise(good, played.jobs[1]).ended);
  EXPECT_EQ(played.network.ending, Ending::complete);
}

// ------------------------------------------------------------------------------------------------------ all programs

/// Programs with what a recording may have; three ranks each.
std::vector<std::pair<std::string, Program>> programs() {
  std::vector<std::pair<std::string, Program>> all;
  Recording wild(3);
  for (const int round : {0, 1, 2}) {
    const int other = round % 2 == 0 ? 2 : 1;  // who is first differs
    wild.call(0, "MPI_Irecv", {{peer, record::anybody}, {tag, 7}, {request, 0}})
        .call(0, "MPI_Irecv", {{peer, record::anybody}, {tag, record::any_tag}, {request, 1}})
        .call(0, "MPI_Waitany", {{completes, 0}, {source, other}, {source_tag, 7}})
        .call(0, "MPI_Wait", {{completes, 1}, {source, 3 - other}, {source_tag, 7}});
    for (const std::uint32_t rank : {1U, 2U})
      wild.call(rank, "MPI_Send", {{peer, 0}, {tag, 7}, {bytes, 600 * rank}}, rank * 1'000);
  }
  all.emplace_back("wildcards", wild.take());
  Recording tests(3);
  tests.call(0, "MPI_Irecv", {{peer, 1}, {tag, 1}, {request, 0}})
      .call(0, "MPI_Test", {{concerns, 0}, {not_yet, 1}})
      .call(0, "MPI_Test", {{completes, 0}}, 5'000)
      .call(1, "MPI_Isend", {{peer, 0}, {tag, 1}, {bytes, 30'000}, {request, 0}})
      .call(1, "MPI_Waitsome", {{completes, 0}})
      .call(2, "MPI_Iprobe", {{peer, record::anybody}, {tag, record::any_tag}, {source, 1}, {source_tag, 4}})
      .call(2, "MPI_Recv", {{peer, 1}, {tag, 4}})
      .call(1, "MPI_Ssend", {{peer, 2}, {tag, 4}, {bytes, 10}}, 2'000);
  all.emplace_back("tests and probes", tests.take());
  Recording early(3);  // messages wait for their receives, and receives for one Waitall
  for (const std::uint32_t rank : {0U, 1U, 2U}) {
    for (const std::uint32_t other : {(rank + 1) % 3, (rank + 2) % 3}) {
      early.call(rank, "MPI_Isend", {{peer, other}, {tag, 3}, {bytes, 20'000}, {request, other}});
      early.call(rank, "MPI_Irecv", {{peer, other}, {tag, 3}, {request, 10 + other}});
    }
    early.call(rank, "MPI_Waitall",
               {{completes, (rank + 1) % 3},
                {completes, (rank + 2) % 3},
                {completes, 10 + (rank + 1) % 3},
                {completes, 10 + (rank + 2) % 3}},
               9'000 * rank);
  }
  all.emplace_back("waitall", early.take());
  Recording collectives(3);
  for (const char* name : {"MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Allgather", "MPI_Alltoall",
                           "MPI_Reduce", "MPI_Allreduce", "MPI_Scan", "MPI_Exscan", "MPI_Reduce_scatter_block"})
    collectives.all(name, {{bytes, 96}, {root, 2}}, 1'000);
  collectives.all("MPI_Iallreduce", {{bytes, 64}, {request, 0}})
      .all("MPI_Ibarrier", {{request, 1}})
      .all("MPI_Waitall", {{completes, 0}, {completes, 1}}, 4'000);
  all.emplace_back("collectives", collectives.take());
  Recording windows(3);
  windows.all("MPI_Win_create", {{window, 0}})
      .all("MPI_Win_fence", {{window, 0}})
      .call(0, "MPI_Put", {{window, 0}, {peer, 1}, {bytes, 4000}})
      .all("MPI_Win_fence", {{window, 0}})
      .all("MPI_Neighbor_alltoall", {});
  all.emplace_back("windows", windows.take());
  Recording threads(3);
  threads.call(0, "MPI_Recv", {{peer, 1}, {tag, 1}}, 0, 0)
      .call(0, "MPI_Recv", {{peer, record::anybody}, {tag, 8}, {source, 2}}, 0, 1)
      .call(1, "MPI_Send", {{peer, 0}, {tag, 1}, {bytes, 8}})
      .call(2, "MPI_Send", {{peer, 0}, {tag, 8}, {bytes, 8}});
  all.emplace_back("threads", threads.take());
  return all;
}

TEST(Replicated, EveryProgramEndsUnderEveryProtocolAndDegree) {
  for (const auto& [name, program] : programs())
    for (const int degree : {1, 2, 3, 4})
      for (const replicate::Protocol protocol : protocols)
        for (const Progress progress : {Progress::calls, Progress::always}) {
          Job job = replicated(program, degree, protocol);
          job.protocol.progress = progress;
          const Played played = play(job);
          const JobSummary summary = summarise(job, played.jobs[0]);
          EXPECT_TRUE(summary.ended) << name << " " << degree << " " << protocol_name(protocol) << ": "
                                     << (summary.notes.empty() ? "" : summary.notes.back());
          EXPECT_EQ(played.network.ending, Ending::complete) << name;
          EXPECT_EQ(played.jobs[0].unreceived, 0u) << name;
          if (degree == 1) continue;
          EXPECT_EQ(replication(played).counters[Count::mismatches], 0u) << name;
          EXPECT_EQ(replication(played).counters[Count::corrections], 0u) << name;
        }
}

TEST(Replicated, FourReplicasOfARankMeetTheOthersBeforeACollectiveWhereTheyWouldWaitForThem) {
  constexpr std::int64_t late_ns = 1'000'000;
  const auto waits = [&](std::string_view name, std::int64_t length, std::int64_t at) {
    Recording recording(2);
    recording.call(0, name, {{bytes, length}, {root, at}}).call(1, name, {{bytes, length}, {root, at}}, late_ns);
    return play(replicated(recording.take(), 4, replicate::Protocol::msg_plus_hash)).end(0) >= late_ns * ps_per_ns;
  };
  EXPECT_FALSE(waits("MPI_Bcast", 8, 0));
  EXPECT_FALSE(waits("MPI_Scatter", 8, 0));
  EXPECT_FALSE(waits("MPI_Gather", 8, 1));
  EXPECT_TRUE(waits("MPI_Bcast", 8, 1));
  EXPECT_TRUE(waits("MPI_Bcast", 70'000, 0));
  EXPECT_TRUE(waits("MPI_Reduce", 8, 1));
  EXPECT_TRUE(waits("MPI_Barrier", 0, 0));
}

TEST(Replicated, EveryFlipIsFoundAndPutRightWhereThereAreThree) {
  for (const auto& [name, program] : programs())
    for (const replicate::Protocol protocol : protocols)
      for (const int rank : {0, 1, 2})
        for (const int message : {1, 2}) {
          const std::string flip =
              "flip rank " + std::to_string(rank) + " replica 1 message " + std::to_string(message) + " bit 5";
          for (const int degree : {2, 3, 4}) {
            const Played played = play(replicated(program, degree, protocol, flip));
            const ReplicationOutcome& found = replication(played);
            const std::string where =
                name + " " + protocol_name(protocol) + " degree " + std::to_string(degree) + ": " + flip;
            if (found.counters[Count::injected] == 0) continue;
            EXPECT_EQ(found.incident.has_value(), degree == 2)
                << where << (found.incident ? ": " + found.incident->message : "");
            if (degree == 2) continue;
            EXPECT_GT(found.counters[Count::corrections], 0u) << where;
            EXPECT_TRUE(summarise(played.given[0], played.jobs[0]).ended) << where;
          }
        }
}

TEST(Replicated, OneReplicaIsTheReplayWithout) {
  for (const auto& [name, program] : programs()) {
    const Played without = sample::play(program);
    const Played one = play(replicated(program, 1, msg_plus_vote));
    for (std::uint32_t rank = 0; rank < 3; ++rank) EXPECT_EQ(one.end(rank), without.end(rank)) << name;
    EXPECT_FALSE(one.jobs[0].replication);
  }
}

TEST(Replicated, EqualRunsAreEqualToTheByte) {
  for (const auto& [name, program] : programs()) {
    const Job job = replicated(program, 3, msg_plus_hash, "flip rate 1/3");
    const auto once = [&] {
      const Played played = play(job);
      return simulate::to_json(played.network, false).dump() +
             to_json(summarise(job, played.jobs[0]), job, played.jobs[0]).dump();
    };
    EXPECT_EQ(once(), once()) << name;
  }
}

/// Followers post a wildcard for what the leader's took, and are told what its tests said.
TEST(Replicated, LeadersSayWhatOnlyTheirMpiKnows) {
  const Played played = play(replicated(programs().front().second, 3, msg_plus_hash));
  EXPECT_EQ(replication(played).counters[Count::decisions], 3 * 3u);  // two matches and an index a round
}

TEST(Replicated, WhatIsLeftOutIsTold) {
  for (const auto& [name, program] : programs()) {
    const Job job = replicated(program, 2, msg_plus_hash);
    const Played played = play(job);
    const JobSummary summary = summarise(job, played.jobs[0]);
    const auto told = [&](std::string_view words) {
      return std::ranges::any_of(summary.notes,
                                 [&](const std::string& note) { return note.find(words) != std::string::npos; });
    };
    EXPECT_EQ(told("not compared"), name == "windows") << name;
    EXPECT_EQ(told("several threads"), name == "threads") << name;
  }
}

TEST(Replicated, AFlipThatFindsNothingIsTold) {
  const auto told = [](const Job& job) {
    const Played played = play(job);
    EXPECT_EQ(played.network.ending, Ending::complete);
    const std::vector<std::string> notes = summarise(job, played.jobs[0]).notes;
    return std::ranges::any_of(
        notes, [](const std::string& note) { return note.find("nothing was flipped") != std::string::npos; });
  };
  for (const int degree : {2, 3}) {
    EXPECT_TRUE(told(replicated(one_message(0), degree, msg_plus_hash, "flip rank 0 replica 0 message 1")));
    EXPECT_TRUE(told(replicated(one_message(), degree, msg_plus_hash, "flip rank 0 replica 0 message 2")));
    EXPECT_FALSE(told(replicated(one_message(), degree, msg_plus_hash)));
  }
  EXPECT_FALSE(told(replicated(one_message(), 3, msg_plus_hash, "flip rank 0 replica 0 message 1")));
}

TEST(Protections, BadOnesAreRefusedInOneLine) {
  Protection protection;
  protection.inject = "flip rate 1/10";
  EXPECT_NE(check(protection, 4).message().find("give --replicas 2 or more"), std::string::npos);
  protection.degree = 3;
  EXPECT_TRUE(check(protection, 4).ok());
  EXPECT_FALSE(check(protection, 2731).ok());
  EXPECT_TRUE(check(protection, 2730).ok());
  for (const char* bad : {"flip rank 4 message 1", "flip replica 3 message 1", "flip peer 4 message 1", "drop rate 1/2",
                          "flip time 3s", "kill-process rank 1 replica 0 time 1ms", "nonsense"}) {
    protection.inject = bad;
    EXPECT_EQ(check(protection, 4).code(), Code::bad_input) << bad;
  }
  EXPECT_FALSE(parse_protocol("vote").ok());
  for (const replicate::Protocol protocol : protocols)
    EXPECT_EQ(parse_protocol(protocol_name(protocol)).value(), protocol);
}

}  // namespace
}  // namespace holdfast::simulate::job
