#include "replicate/launch/report/tally.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>

#include "core/scratch/scratch_folder.h"

namespace holdfast::launch {
namespace {

void leave_tally(const std::string& path, const std::string& line, const std::vector<std::uint64_t>& numbers) {
  std::string text = line + "\n";
  text.resize(2048);
  text.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::uint64_t));
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Tally, SumsWhatTheProcessesOfThisJobHadCounted) {
  const scratch::ScratchFolder folder;
  const std::string base = folder.path() + "/counted-";
  EXPECT_TRUE(read_tallies(folder.path(), "j").is_null());
  leave_tally(base + "0.0", "holdfast-counted j messages flips", {5, 1});
  leave_tally(base + "0.1", "holdfast-counted j messages flips", {7, 0});
  leave_tally(base + "1.0", "holdfast-counted other messages flips", {100, 100});
  leave_tally(base + "1.1", "holdfast-counted j messages flips and more than there is", {100, 100});
  leave_tally(base + "2.0", "something else", {100});
  std::ofstream(base + "2.1") << "holdfast-counted j messages";
  leave_tally(base + "3.0", "holdfast-counted j messages \xFF\x1B[2J", {100, 100});
  leave_tally(base + "4294967296.0", "holdfast-counted j messages flips", {100, 100});
  const auto sums = read_tallies(folder.path(), "j");
  EXPECT_EQ(sums.dump(), R"({"messages":12,"flips":1})");
}

TEST(Tally, IsAtMostWhatANumberHolds) {
  const scratch::ScratchFolder folder;
  leave_tally(folder.path() + "/counted-0.0", "holdfast-counted j messages", {~std::uint64_t{0} - 1});
  leave_tally(folder.path() + "/counted-0.1", "holdfast-counted j messages", {7});
  EXPECT_EQ(read_tallies(folder.path(), "j")["messages"], ~std::uint64_t{0});
}

}  // namespace
}  // namespace holdfast::launch
