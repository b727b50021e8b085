#include "replicate/launch/compare/corruption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CorruptionSeen : public ::testing::Test {
 protected:
  CorruptionSeen() { std::filesystem::create_directories(folder_); }
  ~CorruptionSeen() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ + "/" + name) << text; }
  std::vector<Corruption> read() const { return read_corruption(folder_, "this"); }
  std::string folder_ = ::testing::TempDir() + "corruption-" + std::to_string(getpid());
  std::vector<std::string> faults_{"flip rank 1 message 3", "flip rate 1/9"};
};

TEST_F(CorruptionSeen, TheEarliestFirst) {
  write("evidence-0.2", "this 100 7 wrong 1 2\n");
  write("evidence-1.2", "this 100 6 struck 0 0\n");
  const auto seen = read();
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(corruption_line(seen[0], faults_), "the injected 'flip rank 1 message 3' had struck rank 1 replica 2");
  EXPECT_EQ(corruption_line(seen[1], faults_), "a wrong copy had come from rank 1 replica 2");
  EXPECT_THAT(faults_that_missed(seen, faults_), ElementsAre("flip rate 1/9"));
}

TEST_F(CorruptionSeen, DamagedLinesAndOtherJobsSayNothing) {
  write("evidence-0.0",
        "other 100 7 wrong 1 2\nthis 100 7 wrong 1\nthis -1 7 wrong 1 2\nthis 99999999999999999 0 wrong 1 2\n"
        "this 1 1 wrong -1 0\nthis 1 1 lost 1 0\nthis 1 1 struck 9 0\n");
  for (const char* nobodys : {"0.0.x", "4294967296.0", "+1.0", " 1.0", "-1.0"})
    write(std::string("evidence-") + nobodys, "this 1 1 wrong 0 0\n");
  std::filesystem::create_directories(folder_ + "/evidence-3.3");
  const auto seen = read();
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(corruption_line(seen[0], faults_), "the injected fault had struck rank 0 replica 0");
  EXPECT_THAT(read_corruption(folder_ + "/nowhere", "this"), IsEmpty());
}

}  // namespace
}  // namespace holdfast::launch
