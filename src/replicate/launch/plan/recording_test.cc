#include "replicate/launch/plan/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/scratch/scratch_folder.h"
#include "replicate/engine/degrees.h"

namespace holdfast::launch {
namespace {

replicate::ReplicaMap map_of(const std::string& degrees, int ranks) {
  return replicate::ReplicaMap::of(replicate::Degrees::parse(degrees).value(), ranks).value();
}

void put(const std::string& path) {
  std::ofstream(path) << "something";
}

TEST(Recording, OneReplicaOfEachRankRecords) {
  const scratch::ScratchFolder scratch;
  for (const auto& [degrees, ranks] : {std::pair("1", 4), std::pair("3", 4)}) {
    const auto map = map_of(degrees, ranks);
    const auto variables = recording_variables(scratch.file("job.trace"), map);
    ASSERT_TRUE(variables.ok());
    EXPECT_EQ(variables.value()[0], Variable("HOLDFAST_RECORD_FOLDER", scratch.file("job.trace")));
    std::string expected;
    for (int rank = 0; rank < ranks; ++rank)
      expected += (rank > 0 ? "," : "") + std::to_string(map.physical_rank(rank, 0));
    EXPECT_THAT(variables.value()[1].second, testing::AnyOf(expected, "0-" + std::to_string(ranks - 1)));
  }
}

TEST(Recording, NothingButARecordingIsReplaced) {
  const scratch::ScratchFolder scratch;
  const std::string folder = scratch.file("job.trace");
  ASSERT_TRUE(prepare_recording(folder).ok());
  put(folder + "/rank-000000.rec");
  EXPECT_TRUE(recording_variables(folder, map_of("1", 1)).ok());
  EXPECT_EQ(find_recorded(folder, 2).ranks, 1);
  EXPECT_EQ(find_recorded(folder, 2).bytes, 9U);
  ASSERT_TRUE(prepare_recording(folder).ok());
  EXPECT_EQ(find_recorded(folder, 2).ranks, 0);
  put(folder + "/precious");
  EXPECT_EQ(recording_variables(folder, map_of("1", 1)).status().code(), Code::bad_input);
  EXPECT_FALSE(prepare_recording(folder).ok());
  EXPECT_TRUE(std::filesystem::exists(folder + "/precious"));
  EXPECT_EQ(recording_variables(folder + "/precious", map_of("1", 1)).status().code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::launch
