#include "replicate/launch/report/launched.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

class LaunchedStatus : public ::testing::Test {
 protected:
  LaunchedStatus() { std::filesystem::create_directories(folder_); }
  ~LaunchedStatus() override { std::filesystem::remove_all(folder_); }
  void leave(int rank, int replica, const std::string& text) const {
    std::ofstream(folder_ + "/launched-" + std::to_string(rank) + "." + std::to_string(replica)) << text;
  }
  std::optional<int> read(const std::vector<int>& replicas) const {
    return launched_status(folder_, "job", replicate::ReplicaMap::of_degrees({3, 3}).value(), replicas);
  }
  std::string folder_ = ::testing::TempDir() + "/launched-test-" + std::to_string(::getpid());
};

TEST_F(LaunchedStatus, IsTheFirstRanksThatIsNotZeroByTheMajority) {
  for (int replica = 0; replica < 3; ++replica) leave(0, replica, "0 job\n");
  leave(1, 0, "1 job\n");
  leave(1, 1, "4 job\n");
  leave(1, 2, "4 job\n");
  EXPECT_EQ(read({0, 1, 2}), 4);
  EXPECT_EQ(read({0}), 1);
  leave(0, 1, "9 job\n");
  leave(0, 2, "9 job\n");
  EXPECT_EQ(read({0, 1, 2}), 9);
}

TEST_F(LaunchedStatus, IsNotKnownWhereOneLeftNoneOfThisJob) {
  for (int replica = 0; replica < 3; ++replica) {
    leave(0, replica, "0 job\n");
    if (replica < 2) leave(1, replica, "0 job\n");
  }
  EXPECT_EQ(read({0, 1, 2}), std::nullopt);
  EXPECT_EQ(read({0, 1}), 0) << "the third was taken out";
  for (const char* text : {"0 other\n", "0", "", "-1 job\n", "256 job\n", "x job\n"}) {
    leave(1, 1, text);
    EXPECT_EQ(read({0, 1}), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace holdfast::launch
