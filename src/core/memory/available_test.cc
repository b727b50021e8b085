#include "core/memory/available.h"

#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "core/scratch/scratch_folder.h"

namespace holdfast::memory {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

class AvailableMemory : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = folder_.path() + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  std::uint64_t available() const { return available_bytes_below(folder_.path()); }

  scratch::ScratchFolder folder_;
};

TEST_F(AvailableMemory, IsUnlimitedWhereNothingSaysSo) {
  EXPECT_EQ(available(), most);
  write("/proc/meminfo", "MemTotal: 8 kB\nMemAvailable: word kB\n");
  EXPECT_EQ(available(), most);
}

TEST_F(AvailableMemory, IsTheLeastOfMachineAndGroups) {
  write("/proc/meminfo", "MemTotal:       24617340 kB\nMemAvailable:   1000 kB\n");
  EXPECT_EQ(available(), 1'024'000);
  write("/proc/self/cgroup", "0::/slice/job\n");
  write("/sys/fs/cgroup/slice/job/memory.max", "max\n");
  EXPECT_EQ(available(), 1'024'000);
  write("/sys/fs/cgroup/slice/memory.max", "700\n");  // a group above
  write("/sys/fs/cgroup/slice/memory.current", "300\n");
  EXPECT_EQ(available(), 400);
  write("/sys/fs/cgroup/slice/job/memory.max", "100\n");
  write("/sys/fs/cgroup/slice/job/memory.current", "200\n");  // a limit that was lowered
  EXPECT_EQ(available(), 0);
}

TEST_F(AvailableMemory, KnowsVersionOneOfGroups) {
  write("/proc/self/cgroup", "5:cpu,memory:/job\n4:pids:/other\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5000\n");
  write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(available(), 4'000);
}

TEST_F(AvailableMemory, FollowsTheLimitOfTheProcess) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer ends a process to which the system gives no memory";
#endif
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  rlimit lower = before;
  lower.rlim_cur = 1;
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &lower), 0);
  const std::uint64_t left = available_bytes();
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &before), 0);
  EXPECT_EQ(left, 0);
  EXPECT_GT(available_bytes(), 0);
}

TEST(MemoryEstimate, IsRefusedInALineThatNamesBothNumbers) {
  EXPECT_TRUE(check_estimate("routing", 15'000, "", 16'000).ok());
  EXPECT_EQ(check_estimate("routing", 32'400'000'000, "take a smaller network", 22'000'000'000).message(),
            "routing: it needs about 32.4 GB of memory, and 22 GB are available: take a smaller network");
  EXPECT_EQ(check_estimate("routing", most, "x", most - 1).wrong(),
            "it needs more than 18 EB of memory, and 18.4 EB are available");
  EXPECT_TRUE(check_estimate("routing", most / 2, "", most).ok());
}

TEST(MemoryEstimate, IsCutOffWhere64BitsEnd) {
  EXPECT_EQ(estimate_product(most / 2, 3), most);
  EXPECT_EQ(estimate_sum(most, 1), most);
  EXPECT_EQ(estimate_product(1'000, 1'000), 1'000'000);
  EXPECT_EQ(in_words(640), "640 bytes");
  EXPECT_EQ(in_words(1'500), "1.5 kB");
}

}  // namespace
}  // namespace holdfast::memory
