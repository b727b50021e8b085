#include "replicate/launch/plan/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/scratch/scratch_folder.h"
#include "record/event_writer.h"
#include "record/rank_files.h"
#include "replicate/engine/degrees.h"

namespace holdfast::launch {
namespace {

replicate::ReplicaMap map_of(const std::string& degrees, int ranks) {
  return replicate::ReplicaMap::of(replicate::Degrees::parse(degrees).value(), ranks).value();
}

void put(const std::string& path) {
  std::ofstream(path) << "something";
}

void record_to(const std::string& folder, std::uint64_t rank, const std::string& job) {
  std::ofstream file(folder + "/" + record::rank_file_name(rank), std::ios::binary);
  record::EventWriter writer(
      {rank, 2, job, "openmpi", "host", 0}, [](std::uint32_t) { return "MPI_Barrier"; },
      [&file](std::string_view block) { file << block; });
  writer.count(0, false, 3);
  writer.end(record::Ending::finalized);
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
  ASSERT_TRUE(RecordingFolder::take(folder).ok());
  record_to(folder, 0, "job");
  EXPECT_TRUE(recording_variables(folder, map_of("1", 1)).ok());
  ASSERT_TRUE(RecordingFolder::take(folder).ok());
  EXPECT_EQ(find_recorded(folder, "job", 2).ranks, 0);
  put(folder + "/precious");
  EXPECT_EQ(recording_variables(folder, map_of("1", 1)).status().code(), Code::bad_input);
  EXPECT_EQ(RecordingFolder::take(folder).status().code(), Code::bad_input);
  EXPECT_TRUE(std::filesystem::exists(folder + "/precious"));
  EXPECT_EQ(recording_variables(folder + "/precious", map_of("1", 1)).status().code(), Code::bad_input);
}

/// The name of a recording's file does not make it one.
TEST(Recording, FilesOfOthersWithItsNamesStay) {
  const scratch::ScratchFolder scratch;
  const std::string folder = scratch.file("job.trace");
  std::filesystem::create_directory(folder);
  put(folder + "/rank-000000.rec");
  EXPECT_EQ(recording_variables(folder, map_of("1", 1)).status().code(), Code::bad_input);
  EXPECT_EQ(RecordingFolder::take(folder).status().code(), Code::bad_input);
  EXPECT_TRUE(std::filesystem::exists(folder + "/rank-000000.rec"));
  std::filesystem::remove(folder + "/rank-000000.rec");
  std::filesystem::create_symlink("/etc/passwd", folder + "/rank-000000.rec");
  EXPECT_EQ(RecordingFolder::take(folder).status().code(), Code::bad_input);
  std::filesystem::remove(folder + "/rank-000000.rec");
  std::ofstream(folder + "/rank-000000.rec").flush();  // what a full disk left
  EXPECT_TRUE(RecordingFolder::take(folder).ok());
}

TEST(Recording, OneJobAtATimeHasTheFolder) {
  const scratch::ScratchFolder scratch;
  const std::string folder = scratch.file("job.trace");
  {
    const auto first = RecordingFolder::take(folder);
    ASSERT_TRUE(first.ok());
    record_to(folder, 0, "first");
    EXPECT_EQ(RecordingFolder::take(folder).status().code(), Code::bad_input);
    EXPECT_EQ(find_recorded(folder, "first", 1).ranks, 1);
  }
  EXPECT_TRUE(RecordingFolder::take(folder).ok());
}

TEST(Recording, AFileThatWasCutOrIsOfAnotherJobIsNoRecording) {
  const scratch::ScratchFolder scratch;
  const std::string folder = scratch.file("job.trace");
  ASSERT_TRUE(RecordingFolder::take(folder).ok());
  record_to(folder, 0, "job");
  record_to(folder, 1, "other");
  EXPECT_EQ(find_recorded(folder, "job", 3).ranks, 1);
  EXPECT_EQ(find_recorded(folder, "job", 3).cut, 0);
  const std::string path = folder + "/rank-000000.rec";
  const auto whole = std::filesystem::file_size(path);
  EXPECT_EQ(find_recorded(folder, "job", 3).bytes, whole);
  for (std::uintmax_t left = whole; left-- > 0;) {
    std::filesystem::resize_file(path, left);
    const Recorded seen = find_recorded(folder, "job", 3);
    ASSERT_EQ(seen.ranks, seen.cut) << left;  // never taken for whole
  }
}

}  // namespace
}  // namespace holdfast::launch
