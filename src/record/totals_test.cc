#include "record/totals.h"

#include <gtest/gtest.h>

#include "record/matching.h"
#include "record/matrix_picture.h"
#include "record/trace_record.h"

namespace holdfast::record {
namespace {

void call(RankTotals& totals, std::string_view name, std::vector<FactValue> facts, std::uint64_t repeats = 1) {
  totals.call({name, 0, facts, 10, 4, 3, repeats});
}

TEST(Totals, AReceiveCountsWhenItIsComplete) {
  RankTotals totals;
  call(totals, "MPI_Irecv", {{Fact::peer, anybody}, {Fact::tag, 5}, {Fact::source_bytes, 100}, {Fact::request, 0}});
  call(totals, "MPI_Irecv", {{Fact::peer, 2}, {Fact::tag, 5}, {Fact::source_bytes, 100}, {Fact::request, 1}});
  EXPECT_TRUE(totals.received.empty());
  call(totals, "MPI_Test", {{Fact::concerns, 0}, {Fact::not_yet, 1}}, 7);
  call(totals, "MPI_Waitall",
       {{Fact::completes, 0},
        {Fact::source, 3},
        {Fact::source_bytes, 40},
        {Fact::completes, 1},
        {Fact::source_bytes, 60}});
  EXPECT_EQ(totals.received[3].bytes, 40U);
  EXPECT_EQ(totals.received[2].bytes, 60U);
  EXPECT_EQ(totals.calls.at("MPI_Test").in_vain, 7U);
  EXPECT_EQ(totals.computing_ns, 4 * 6);
  EXPECT_EQ(totals.without_core_ns, 4 * 4);
}

TEST(Totals, ACancelledReceiveGotNothing) {
  RankTotals totals;
  call(totals, "MPI_Irecv", {{Fact::peer, 1}, {Fact::request, 0}});
  call(totals, "MPI_Cancel", {{Fact::cancels, 0}});
  call(totals, "MPI_Wait", {{Fact::completes, 0}, {Fact::cancelled, 1}});
  EXPECT_TRUE(totals.received.empty());
}

TEST(Totals, APersistentRequestSendsEachTimeItIsStarted) {
  RankTotals totals;
  call(totals, "MPI_Send_init", {{Fact::peer, 1}, {Fact::bytes, 8}, {Fact::request, 0}});
  for (int i = 0; i < 3; ++i) {
    call(totals, "MPI_Start", {{Fact::starts, 0}});
    call(totals, "MPI_Wait", {{Fact::completes, 0}});
  }
  EXPECT_EQ(totals.sent[1].messages, 3U);
  EXPECT_EQ(totals.sent[1].bytes, 24U);
}

TEST(Totals, NobodyIsNoPeer) {
  RankTotals totals;
  call(totals, "MPI_Send", {{Fact::peer, nobody}, {Fact::bytes, 8}});
  EXPECT_TRUE(totals.sent.empty());
}

TEST(Matching, NamesWhatWasNotReceivedAndTheRankThatMissedACollective) {
  std::vector<RankTotals> ranks(2);
  for (RankTotals& rank : ranks) rank.communicator(0, {{0, 1}, {}, 0});
  call(ranks[0], "MPI_Send", {{Fact::peer, 1}, {Fact::bytes, 8}});
  call(ranks[0], "MPI_Barrier", {{Fact::communicator, 0}});
  call(ranks[1], "MPI_Barrier", {{Fact::communicator, 0}});
  EXPECT_EQ(mismatches(ranks, {true, true}).size(), 1U);
  EXPECT_EQ(mismatches(ranks, {true, true})[0], "rank 0 sent 1 messages to rank 1, which received 0 of it");
  call(ranks[1], "MPI_Recv", {{Fact::peer, 0}, {Fact::source_bytes, 8}});
  EXPECT_TRUE(mismatches(ranks, {true, true}).empty());
  call(ranks[1], "MPI_Barrier", {{Fact::communicator, 0}});
  EXPECT_EQ(mismatches(ranks, {true, true}).size(), 1U);
  EXPECT_TRUE(mismatches(ranks, {true, false}).empty());
}

TEST(MatrixPicture, HasACellForEachPairThatCommunicates) {
  std::vector<RankTotals> ranks(3);
  ranks[0].sent[1] = {1, 1000};
  ranks[2].got[1] = {1, 10};  // rank 1 gives it
  const std::string svg = matrix_picture(ranks);
  EXPECT_NE(svg.find("<title>0 to 1: 1 kB</title>"), std::string::npos);
  EXPECT_NE(svg.find("<title>1 to 2: 10 B</title>"), std::string::npos);
  EXPECT_EQ(svg.find("<title>2 to 1"), std::string::npos);
}

/// What a recording claims of bytes and times may have no sum, and its names are bytes of anybody.
TEST(Totals, SumsOfWhatNobodyHasAndNamesThatAreNoneDoNoHarm) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::vector<RankTotals> ranks(2);
  for (RankTotals& rank : ranks)
    for (int i = 0; i < 5; ++i) {
      const FactValue facts[] = {{Fact::peer, 1}, {Fact::bytes, most}};
      rank.call({"MPI_Send", 0, facts, most, 0, most, std::uint64_t{1} << 62});
      rank.counted("MPI_Comm_rank", true, std::uint64_t{1} << 63);
    }
  EXPECT_EQ(ranks[0].sent[1].bytes, UINT64_MAX);
  EXPECT_EQ(ranks[0].in_mpi_ns, INT64_MAX);
  EXPECT_EQ(ranks[0].calls.at("MPI_Send").calls, UINT64_MAX);
  Trace trace;
  trace.ranks = 2;
  trace.files.resize(2);
  trace.mpi = "\x1b[2Jopenmpi";
  const std::string text = totals_text(trace, ranks);
  EXPECT_NE(text.find("?[2Jopenmpi"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace holdfast::record
