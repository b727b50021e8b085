#include "record/rank_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace holdfast::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view names[] = {"MPI_Isend", "MPI_Wait", "MPI_Iprobe", "MPI_Barrier"};
enum : std::uint32_t { isend, wait, iprobe, barrier };

struct Kept {
  std::string name;
  std::vector<FactValue> facts;
  std::int64_t before_ns = 0, without_core_ns = 0, during_ns = 0;
  std::uint64_t repeats = 0;
};

class Keeper : public Visitor {
 public:
  void call(const Call& call) override {
    calls.push_back({std::string(call.name),
                     {call.facts.begin(), call.facts.end()},
                     call.before_ns,
                     call.without_core_ns,
                     call.during_ns,
                     call.repeats});
  }
  void communicator(std::uint64_t number, const Communicator& made) override { communicators[number] = made; }
  void counted(std::string_view name, bool local, std::uint64_t count) override {
    counts[std::string(name) + (local ? " local" : "")] += count;
  }
  void gap() override { ++gaps; }

  std::vector<Kept> calls;
  std::map<std::uint64_t, Communicator> communicators;
  std::map<std::string, std::uint64_t> counts;
  int gaps = 0;
};

/// A file of so many rounds of isend and wait, a block every `flush_every` rounds.
struct File {
  std::string bytes;
  std::vector<std::size_t> blocks;  ///< where they begin
};

File write_file(int rounds, int flush_every, bool ends = true) {
  File file;
  EventWriter writer(
      {1, 4, "job", "openmpi", "host", 17}, [](std::uint32_t f) { return names[f]; },
      [&file](std::string_view block) {
        file.blocks.push_back(file.bytes.size());
        file.bytes += block;
      });
  const auto world = static_cast<std::int64_t>(writer.define({{0, 1, 2, 3}, {}, 0}));
  for (int i = 0; i < rounds; ++i) {
    const auto request = static_cast<std::int64_t>(writer.new_request());
    const FactValue sent[] = {{Fact::communicator, world},
                              {Fact::peer, 2},
                              {Fact::tag, -1 + i % 2},
                              {Fact::bytes, 4096},
                              {Fact::request, request}};
    writer.add(isend, 0, sent, 40, 0, 20, i * 100);
    const FactValue waited[] = {{Fact::completes, request}};
    writer.add(wait, 0, waited, 30, 10, 10, i * 100 + 50);
    if ((i + 1) % flush_every == 0) writer.flush();
  }
  if (ends) writer.end(Ending::finalized);
  return file;
}

TEST(RankReader, CountedFunctionsAreNamedInAnyOrder) {
  for (const auto& order : {std::vector<std::uint32_t>{0, 1}, {1, 0}, {2, 0, 3}, {3}})
    for (const bool local : {false, true}) {
      std::string bytes;
      EventWriter writer(
          {1, 4, "job", "openmpi", "host", 17}, [](std::uint32_t f) { return names[f]; },
          [&](std::string_view block) { bytes += block; });
      for (const std::uint32_t function : order) writer.count(function, local != (function % 2 == 0), 5);
      writer.end(Ending::finalized);
      Keeper keeper;
      EXPECT_TRUE(read_rank(bytes, keeper).whole());
      EXPECT_EQ(keeper.counts.size(), order.size());
      for (const auto& [name, count] : keeper.counts) EXPECT_EQ(count, 5U) << name;
    }
}

TEST(RankReader, GivesBackWhatWasWritten) {
  const File file = write_file(100, 30);
  Keeper keeper;
  const RankFile read = read_rank(file.bytes, keeper);
  EXPECT_TRUE(read.whole());
  EXPECT_EQ(read.head.rank, 1U);
  EXPECT_EQ(read.head.ranks, 4U);
  EXPECT_EQ(read.head.host, "host");
  EXPECT_EQ(read.calls, 200U);
  EXPECT_EQ(read.ending, Ending::finalized);
  EXPECT_EQ(keeper.gaps, 0);
  ASSERT_EQ(keeper.calls.size(), 200U);
  EXPECT_THAT(keeper.communicators[0].members, ElementsAre(0, 1, 2, 3));
  for (int i = 0; i < 100; ++i) {
    const Kept& sent = keeper.calls[2 * i];
    EXPECT_EQ(sent.name, "MPI_Isend");
    EXPECT_THAT(sent.facts, ElementsAre(FactValue{Fact::communicator, 0}, FactValue{Fact::peer, 2},
                                        FactValue{Fact::tag, -1 + i % 2}, FactValue{Fact::bytes, 4096},
                                        FactValue{Fact::request, i}));
    EXPECT_EQ(sent.before_ns, 40);
    EXPECT_THAT(keeper.calls[2 * i + 1].facts, ElementsAre(FactValue{Fact::completes, i}));
    EXPECT_EQ(keeper.calls[2 * i + 1].without_core_ns, 10);
  }
}

TEST(RankReader, FoldsQuestionsWithoutAnswer) {
  std::string bytes;
  EventWriter writer(
      {0, 1, "job", "mpich", "h", 0}, [](std::uint32_t f) { return names[f]; },
      [&bytes](std::string_view block) { bytes += block; });
  const FactValue asked[] = {{Fact::peer, anybody}, {Fact::not_yet, 1}};
  const FactValue answered[] = {{Fact::peer, anybody}, {Fact::source, 3}};
  for (int i = 0; i < 1000; ++i) writer.add(iprobe, 0, asked, 5, 0, 7, i);
  writer.add(iprobe, 0, answered, 5, 0, 7, 1000);
  writer.end(Ending::finalized);
  Keeper keeper;
  EXPECT_TRUE(read_rank(bytes, keeper).whole());
  ASSERT_EQ(keeper.calls.size(), 3U);
  EXPECT_EQ(keeper.calls[0].repeats, 1U);
  EXPECT_EQ(keeper.calls[1].repeats, 999U);
  EXPECT_NEAR(static_cast<double>(keeper.calls[1].during_ns), 999 * 7, 999 * 7 / 32.0);
  EXPECT_THAT(keeper.calls[2].facts, ElementsAre(FactValue{Fact::peer, anybody}, FactValue{Fact::source, 3}));
  EXPECT_LT(bytes.size(), 400U);
}

TEST(RankReader, NamesCallsThatAreOnlyCounted) {
  std::string bytes;
  EventWriter writer(
      {0, 1, "job", "mpich", "h", 0}, [](std::uint32_t f) { return names[f]; },
      [&bytes](std::string_view block) { bytes += block; });
  writer.count(barrier, false, 1);
  writer.count(barrier, false, 1);
  writer.count(wait, true, 1);
  writer.end(Ending::left);
  Keeper keeper;
  const RankFile read = read_rank(bytes, keeper);
  EXPECT_TRUE(read.whole());
  EXPECT_EQ(read.ending, Ending::left);
  EXPECT_EQ(keeper.counts["MPI_Barrier"], 2U);
  EXPECT_EQ(keeper.counts["MPI_Wait local"], 1U);
}

TEST(RankReader, KeepsCommunicatorsOfStridesAndOfStrangers) {
  std::string bytes;
  EventWriter writer(
      {0, 9, "job", "mpich", "h", 0}, [](std::uint32_t f) { return names[f]; },
      [&bytes](std::string_view block) { bytes += block; });
  const Communicator given[] = {{{0, 3, 6}, {}, 0}, {{8, 7, 6, 1, outside, outside}, {2, 4}, 0}, {{0, 3, 6}, {}, 1}};
  for (const Communicator& one : given) {
    const FactValue used[] = {{Fact::communicator, static_cast<std::int64_t>(writer.define(one))}};
    writer.add(barrier, 0, used, 0, 0, 0, 0);
  }
  writer.end(Ending::finalized);
  Keeper keeper;
  EXPECT_TRUE(read_rank(bytes, keeper).whole());
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(keeper.communicators[i], given[i]) << i;
}

TEST(RankReader, ATruncatedFileIsReadAsFarAsItGoes) {
  const File file = write_file(100, 20);
  for (std::size_t cut = 0; cut < file.bytes.size(); ++cut) {
    Keeper keeper;
    const RankFile read = read_rank(std::string_view(file.bytes).substr(0, cut), keeper);
    EXPECT_FALSE(read.whole()) << cut;
    EXPECT_EQ(read_rank_head(std::string_view(file.bytes).substr(0, cut)).has_value(), read.has_head) << cut;
    const auto complete =
        static_cast<std::size_t>(std::count_if(file.blocks.begin(), file.blocks.end(), [&](std::size_t begin) {
          const auto next = std::upper_bound(file.blocks.begin(), file.blocks.end(), begin);
          return (next == file.blocks.end() ? file.bytes.size() : *next) <= cut;
        }));
    EXPECT_EQ(keeper.calls.size(), complete <= 1 ? 0 : (complete - 1) * 40) << cut;
  }
}

TEST(RankReader, ADamagedBlockCostsOnlyItself) {
  const File file = write_file(100, 20);
  ASSERT_EQ(file.blocks.size(), 7U);  // head, five of calls, end
  for (std::size_t at = 0; at < file.bytes.size(); ++at) {
    std::string bytes = file.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    Keeper keeper;
    const RankFile read = read_rank(bytes, keeper);
    ASSERT_FALSE(read.damages.empty()) << at;
    const std::optional<Head> head = read_rank_head(bytes);
    EXPECT_EQ(head.has_value(), read.has_head) << at;
    EXPECT_EQ(head.value_or(Head()).ranks, read.head.ranks) << at;
    EXPECT_EQ(read.damages[0].offset, *(std::upper_bound(file.blocks.begin(), file.blocks.end(), at) - 1)) << at;
    EXPECT_GE(keeper.calls.size(), 160U) << at;
    for (const Kept& call : keeper.calls)
      EXPECT_TRUE(call.name != "MPI_Wait" || call.facts[0].value != unknown_request);
    EXPECT_GE(keeper.gaps, 1) << at;
  }
}

/// Beginnings of blocks that each claim the rest of the file: the checksum of every one would be read.
TEST(RankReader, ARowOfWrongBlocksIsNotTriedToItsEnd) {
  const std::string block = make_block(BlockKind::calls, 1, "nothing");
  std::string bytes;
  while (bytes.size() < (std::size_t{8} << 20)) bytes += block.substr(0, block_header_bytes);
  for (std::size_t at = 0; at < bytes.size(); at += block_header_bytes)
    for (std::size_t i = 0; i < 4; ++i)
      bytes[at + 36 + i] = static_cast<char>((bytes.size() - at - block_header_bytes) >> (8 * i));
  Keeper keeper;
  const RankFile read = read_rank(bytes, keeper);
  ASSERT_EQ(read.damages.size(), 2U);
  EXPECT_THAT(read.damages[0].what, HasSubstr("checksum"));
  EXPECT_THAT(read.damages[1].what, HasSubstr("the rest is not read"));
}

/// A communicator of millions of members takes a few bytes.
TEST(RankReader, MembersBeyondAllReasonAreNotBelieved) {
  std::string bytes;
  EventWriter writer(
      {0, 9, "job", "mpich", "h", 0}, [](std::uint32_t f) { return names[f]; },
      [&bytes](std::string_view block) { bytes += block; });
  std::uint64_t asked = 0;
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::vector<std::int64_t> members(std::size_t{1} << 24, static_cast<std::int64_t>(i));
    asked += members.size();
    const FactValue used[] = {{Fact::communicator, static_cast<std::int64_t>(writer.define({members, {}, i}))}};
    writer.add(barrier, 0, used, 0, 0, 0, 0);
    writer.flush();
  }
  EXPECT_LT(bytes.size(), 2000U);
  class Counter : public Keeper {
   public:
    void communicator(std::uint64_t, const Communicator& made) override { members += made.members.size(); }
    std::uint64_t members = 0;
  } counter;
  const RankFile read = read_rank(bytes, counter);
  EXPECT_FALSE(read.damages.empty());
  EXPECT_EQ(counter.members, std::uint64_t{1} << 26);
  EXPECT_EQ(read.members, counter.members);
  EXPECT_GT(asked, counter.members);
}

TEST(RankReader, AMissingBlockIsNamed) {
  const File file = write_file(100, 20);
  const std::string bytes = file.bytes.substr(0, file.blocks[2]) + file.bytes.substr(file.blocks[3]);
  Keeper keeper;
  const RankFile read = read_rank(bytes, keeper);
  ASSERT_EQ(read.damages.size(), 1U);
  EXPECT_THAT(read.damages[0].what, HasSubstr("block 2 is missing"));
  EXPECT_EQ(keeper.calls.size(), 160U);
}

TEST(RankReader, AnotherVersionIsNamedOnce) {
  const File file = write_file(100, 20);
  std::string bytes = file.bytes;
  for (const std::size_t block : file.blocks) bytes[block + 16] = 2;
  Keeper keeper;
  const RankFile read = read_rank(bytes, keeper);
  ASSERT_EQ(read.damages.size(), 1U);
  EXPECT_EQ(read.damages[0].offset, 0U);
  EXPECT_THAT(read.damages[0].what, HasSubstr("version 2 of the format, this program reads version 1"));
  EXPECT_TRUE(keeper.calls.empty());
}

TEST(RankReader, AHeadThatHoldsSomethingElseIsNotUnderstood) {
  std::string bytes = make_block(BlockKind::head, 0, "x");
  Keeper keeper;
  EXPECT_THAT(read_rank(bytes, keeper).damages[0].what, HasSubstr("cannot be understood"));
}

TEST(RankReader, AStrangeFileIsNoTrace) {
  Keeper keeper;
  const RankFile read = read_rank("this is some text that is longer than the header of a block", keeper);
  ASSERT_EQ(read.damages.size(), 1U);
  EXPECT_THAT(read.damages[0].what, HasSubstr("no block begins here"));
}

TEST(RankReader, WhatFitsIntoNoBlockIsNotBelieved) {
  Keeper keeper;
  const std::string head = make_block(BlockKind::head, 0, std::string("\x05\x05", 2));  // rank 5 of 5
  EXPECT_FALSE(read_rank(head, keeper).has_head);
}

}  // namespace
}  // namespace holdfast::record
