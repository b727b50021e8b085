#include "record/rank_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/scratch/scratch_folder.h"

namespace holdfast::record {
namespace {

TEST(RankFiles, NamesHaveSixDigitsOrMoreAndAreReadBack) {
  EXPECT_EQ(rank_file_name(12), "rank-000012.rec");
  EXPECT_EQ(rank_file_name(1234567), "rank-1234567.rec");
  for (const std::uint64_t rank : {0U, 7U, 999'999U, 1'000'000U, (1U << 24) - 1})
    EXPECT_EQ(rank_of_file(rank_file_name(rank)), rank);
}

TEST(RankFiles, OtherNamesAreNoRanks) {
  for (const char* name : {"", "rank-.rec", "rank-12", "12.rec", "rank-1x.rec", "rank--1.rec", "rank-16777216.rec",
                           "rank-99999999999999999999999.rec", "rank-000001.rec~"})
    EXPECT_EQ(rank_of_file(name), std::nullopt) << name;
}

TEST(RankFiles, AFolderOfARecordingOrNoneMayBeRecordedTo) {
  const scratch::ScratchFolder folder;
  EXPECT_TRUE(may_be_recorded_to(folder.path()));
  const std::string rank = folder.path() + "/" + rank_file_name(3);
  std::ofstream{rank};
  EXPECT_TRUE(may_be_recorded_to(folder.path())) << "an empty file, as a full disk leaves it";
  std::ofstream(rank) << "x";
  EXPECT_FALSE(may_be_recorded_to(folder.path())) << "a file of that name that is no recording";
  std::filesystem::remove(rank);
  std::ofstream(folder.path() + "/notes") << "x";
  EXPECT_FALSE(may_be_recorded_to(folder.path()));
  EXPECT_FALSE(may_be_recorded_to(folder.path() + "/none"));
}

}  // namespace
}  // namespace holdfast::record
