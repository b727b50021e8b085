#include "replicate/launch/supervise/output_pipe.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace holdfast::launch {
namespace {

using testing::HasSubstr;

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> block;
  for (ssize_t got = 0; (got = ::read(from, block.data(), block.size())) > 0;)
    text.append(block.data(), static_cast<std::size_t>(got));
  return text;
}

class PipedOutput : public testing::Test {
 protected:
  void start(int to) {
    auto started = OutputPipe::start(to);
    ASSERT_TRUE(started.ok()) << started.status().message();
    pipe_ = std::move(started).value();
  }
  void say(const std::string& text) {
    ASSERT_EQ(::write(pipe_->descriptor(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  std::unique_ptr<OutputPipe> pipe_;
};

TEST_F(PipedOutput, ArrivesAsItIs) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  start(ends[1]);
  std::string text = "a line\nand";
  text += '\0';
  text += std::string(20'000, 'x');
  say(text);
  const Arrival arrival = pipe_->finish();
  ::close(ends[1]);
  EXPECT_TRUE(arrival.status.ok());
  EXPECT_FALSE(arrival.reader_has_gone);
  EXPECT_EQ(read_all(ends[0]), text);
  ::close(ends[0]);
}

/// A process that was left behind has the pipe still.
TEST_F(PipedOutput, EndsWithoutTheLastWriter) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  start(ends[1]);
  const int left = ::dup(pipe_->descriptor());
  say("said");
  EXPECT_TRUE(pipe_->finish().status.ok());
  ::close(left);
  ::close(ends[1]);
  EXPECT_EQ(read_all(ends[0]), "said");
  ::close(ends[0]);
}

/// A job of more than a pipe holds goes on, and its end says what was lost.
TEST_F(PipedOutput, AFullDiskIsSaidAndHoldsNobodyUp) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  start(full);
  for (int piece = 0; piece < 100; ++piece) say(std::string(4096, 'x'));
  const Arrival arrival = pipe_->finish();
  ::close(full);
  EXPECT_EQ(arrival.status.code(), Code::io);
  EXPECT_THAT(arrival.status.message(), HasSubstr("writing to standard output: No space left on device"));
  EXPECT_FALSE(arrival.reader_has_gone);
}

TEST_F(PipedOutput, AReaderThatHasGoneIsNoError) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  start(ends[1]);
  for (int piece = 0; piece < 100; ++piece) say(std::string(4096, 'x'));
  const Arrival arrival = pipe_->finish();
  ::close(ends[1]);
  EXPECT_TRUE(arrival.status.ok());
  EXPECT_TRUE(arrival.reader_has_gone);
}

}  // namespace
}  // namespace holdfast::launch
