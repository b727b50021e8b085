#include "replicate/launch/supervise/tee.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

namespace holdfast::launch {
namespace {

/// A source pipe and two FIFOs in a folder of their own.
class Tee : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "holdfast-tee-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fifos_ = {folder_ + "/0", folder_ + "/1"};
    ASSERT_EQ(pipe2(source_.data(), O_CLOEXEC), 0);
    ASSERT_TRUE(InputTee::make_fifos(fifos_).ok());
  }
  void TearDown() override {
    close(source_[0]);
    close_writer();
    std::filesystem::remove_all(folder_);
  }
  void close_writer() {
    if (source_[1] >= 0) close(source_[1]);
    source_[1] = -1;
  }
  std::future<void> feed(const std::string& text) {
    return std::async(std::launch::async, [this, text] {
      std::size_t done = 0;
      while (done < text.size()) {
        ssize_t put = write(source_[1], text.data() + done, text.size() - done);
        if (put <= 0) return;
        done += static_cast<std::size_t>(put);
      }
      close_writer();
    });
  }
  std::future<std::string> reader(int which) {
    return std::async(std::launch::async, [this, which] {
      std::ifstream file(fifos_[which], std::ios::binary);
      return std::string((std::istreambuf_iterator<char>(file)), {});
    });
  }
  static std::string text(std::size_t size) {
    std::string made(size, ' ');
    for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<char>('a' + (i * 7 + i / 1000) % 26);
    return made;
  }

  std::string folder_;
  std::vector<std::string> fifos_;
  std::array<int, 2> source_{-1, -1};
};

TEST_F(Tee, GivesEveryReaderTheWholeStream) {
  const std::string all = text(3'000'000);
  InputTee tee(source_[0], fifos_, folder_ + "/spool");
  auto first = reader(0);
  auto second = reader(1);
  auto writer = feed(all);
  EXPECT_EQ(first.get(), all);
  EXPECT_EQ(second.get(), all);
}

TEST_F(Tee, AReaderThatNeverComesHoldsUpNobody) {
  const std::string all = text(3'000'000);
  InputTee tee(source_[0], fifos_, folder_ + "/spool");
  auto second = reader(1);
  auto writer = feed(all);
  EXPECT_EQ(second.get(), all);
}

TEST_F(Tee, AReaderThatStopsReadingHoldsUpNobody) {
  const std::string all = text(3'000'000);
  InputTee tee(source_[0], fifos_, folder_ + "/spool");
  auto second = reader(1);
  int lazy = open(fifos_[0].c_str(), O_RDONLY | O_CLOEXEC);
  char letter = 0;
  auto writer = feed(all);
  EXPECT_EQ(read(lazy, &letter, 1), 1);
  EXPECT_EQ(letter, all[0]);
  EXPECT_EQ(second.get(), all);
  close(lazy);
}

TEST_F(Tee, AReaderThatLeavesEarlyHoldsUpNobody) {
  const std::string all = text(3'000'000);
  InputTee tee(source_[0], fifos_, folder_ + "/spool");
  auto second = reader(1);
  int hasty = open(fifos_[0].c_str(), O_RDONLY | O_CLOEXEC);
  close(hasty);
  auto writer = feed(all);
  EXPECT_EQ(second.get(), all);
}

TEST_F(Tee, AReaderThatComesLateGetsEverything) {
  const std::string all = text(200'000);
  InputTee tee(source_[0], fifos_, folder_ + "/spool");
  auto writer = feed(all);
  EXPECT_EQ(reader(1).get(), all);
  EXPECT_EQ(reader(0).get(), all);
}

TEST_F(Tee, EndsWithoutReaders) {
  const auto start = std::chrono::steady_clock::now();
  { InputTee tee(source_[0], fifos_, folder_ + "/spool"); }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST_F(Tee, ReadsNothingBeforeAReaderIsThere) {
  {
    InputTee tee(source_[0], fifos_, folder_ + "/spool");
    ASSERT_EQ(write(source_[1], "x", 1), 1);
    usleep(20000);
  }
  char letter = 0;
  EXPECT_EQ(read(source_[0], &letter, 1), 1) << "input that the program did not want is left for others";
}

TEST(MakeFifos, SaysWhatIsInTheWay) {
  EXPECT_EQ(InputTee::make_fifos({"/proc/none"}).code(), Code::io);
}

}  // namespace
}  // namespace holdfast::launch
