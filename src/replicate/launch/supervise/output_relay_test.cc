#include "replicate/launch/supervise/output_relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace holdfast::launch {
namespace {

class RelayLines : public ::testing::Test {
 protected:
  RelayLines() {
    std::filesystem::create_directories(folder_);
    file_ = ::open((folder_ + "/to").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    to_ = Outlet(file_);
  }
  ~RelayLines() override {
    ::close(file_);
    std::filesystem::remove_all(folder_);
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name, std::ios::app) << text;
  }
  std::string shown() const {
    std::ifstream file(folder_ + "/to");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string folder_ = ::testing::TempDir() + "relay-" + std::to_string(getpid());
  int file_ = -1;
  Outlet to_{-1};
};

TEST_F(RelayLines, WholeLinesUntilTheEnd) {
  const std::string path = folder_ + "/out";
  EXPECT_EQ(relay_lines(path, 0, to_, false), 0);
  write("out", "one\ntw");
  EXPECT_EQ(relay_lines(path, 0, to_, false), 4);
  EXPECT_EQ(relay_lines(path, 4, to_, false), 0);
  write("out", "o\nthree");
  EXPECT_EQ(relay_lines(path, 4, to_, false), 4);
  EXPECT_EQ(relay_lines(path, 8, to_, true), 5);
  EXPECT_EQ(shown(), "one\ntwo\nthree");
}

TEST_F(RelayLines, ALineWithoutEndIsShownBlockByBlock) {
  const std::string much(3000000, 'x');
  write("out", much);
  long long at = relay_lines(folder_ + "/out", 0, to_, false);
  EXPECT_GT(at, 2000000);
  at += relay_lines(folder_ + "/out", at, to_, true);
  EXPECT_EQ(at, 3000000);
  EXPECT_EQ(shown(), much);
}

TEST_F(RelayLines, TheNextLeaderGoesOnWhereTheLastOneStopped) {
  write("first", "one\ntwo\n");
  write("second", "one\ntwo\nthree\n");
  const long long at = relay_lines(folder_ + "/first", 0, to_, false);
  relay_lines(folder_ + "/second", at, to_, false);
  EXPECT_EQ(shown(), "one\ntwo\nthree\n");
}

/// A relay whose leader is taken out when all that it wrote was shown.
class NextLeader : public RelayLines {
 protected:
  /// What stands on standard output and standard error after replica 0 wrote `first` to stderr, and replica 1, which
  /// leads then, `second` by then and `later` after that.
  std::string shown_of(const std::string& first, const std::string& second, const std::string& later = "",
                       const std::string& may_differ = "") {
    write("rank-0.replica-0.err", first);
    const int before = ::dup(STDERR_FILENO);
    ::dup2(file_, STDERR_FILENO);
    std::atomic<int> leader = 0;
    std::atomic<int> looks = 0;
    OutputRelay relay(
        folder_, 1, file_,
        [&] {
          ++looks;
          return leader.load();
        },
        may_differ);
    const auto look_thrice = [&] {
      for (const int now = looks; looks < now + 3;) ::usleep(1000);
    };
    while (shown() != first) ::usleep(1000);
    write("rank-0.replica-1.err", second);
    leader = 1;
    look_thrice();
    write("rank-0.replica-1.err", later);
    look_thrice();
    relay.finish();
    ::dup2(before, STDERR_FILENO);
    ::close(before);
    wrong_ = relay.wrongly_shown();
    return shown();
  }
  std::vector<WronglyShown> wrong_;
  const std::string note_ =
      "holdfast: the end of rank 0's stderr above is what replica 0 wrote, which was taken out, and not what the "
      "others wrote: theirs follows\n";
};

TEST_F(NextLeader, ThatHasTheSameGoesOn) {
  EXPECT_EQ(shown_of("one\ntwo\n", "one\ntwo\nthree\n"), "one\ntwo\nthree\n");
  EXPECT_TRUE(wrong_.empty());
}

TEST_F(NextLeader, ThatIsNotAsFarIsWaitedFor) {
  const std::string much(200000, 'x');  // more than is compared at once
  EXPECT_EQ(shown_of(much + "\none\n", much, "\none\ntwo\n"), much + "\none\ntwo\n");
  EXPECT_TRUE(wrong_.empty());
}

TEST_F(NextLeader, ThatHasAnotherLineShowsItAndWhatFollows) {
  EXPECT_EQ(shown_of("one\nsum 110\n", "one\nsum", " 10\ntwo\n"), "one\nsum 110\n" + note_ + "sum 10\ntwo\n");
  ASSERT_EQ(wrong_.size(), 1U);
  EXPECT_EQ(wrong_[0].byte, 9);
  EXPECT_EQ(std::pair(wrong_[0].replica, wrong_[0].against), std::pair(0, 1));
}

TEST_F(NextLeader, ThatNeverGetsSoFarHasNothingToShow) {
  EXPECT_EQ(shown_of("one\ntwo\n", "one\n"), "one\ntwo\n");
  ASSERT_EQ(wrong_.size(), 1U);
  EXPECT_EQ(wrong_[0].byte, 4);
}

TEST_F(NextLeader, WhoseStreamMayDifferGoesOn) {
  EXPECT_EQ(shown_of("one\nsum 110\n", "one\nsum 10\nand three\n", "", "*.stderr"), "one\nsum 110\nnd three\n");
  EXPECT_TRUE(wrong_.empty());
}

TEST_F(RelayLines, WhatCannotBeWrittenCountsAsShownAndIsToldAtTheEnd) {
  write("out", "one\ntwo\n");
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  Outlet outlet(full);
  EXPECT_EQ(relay_lines(folder_ + "/out", 0, outlet, true), 8);
  EXPECT_EQ(outlet.error(), ENOSPC);
  HeldStream held({folder_ + "/out", folder_ + "/out", folder_ + "/out"}, outlet);
  held.show();
  EXPECT_FALSE(held.show_rest()) << "nothing is left to be shown";
  ::close(full);
}

TEST_F(RelayLines, WhatComesFromElsewhereGoesToWhoKnowsMpisWords) {
  const std::string words = "[node][[1,2],0][btl_tcp_proc.c:266:create] Unable to find reachable pairing\nof a child\n";
  write("rank-0.replica-0.other.err", words);
  write("rank-0.replica-1.other.err", words);
  OutputRelay(folder_, 1, file_, [] { return 0; }).finish();
  EXPECT_EQ(shown(), words);
  OutputRelay(folder_, 1, file_, 2).finish();
  EXPECT_EQ(shown(), words + words);
}

TEST_F(RelayLines, WhatWentToAFileOrAPipeIsNotShown) {
  write("rank-0.replica-0.err", "to a file\n");
  write("rank-0.replica-1.err", "to a file, and all of it\n");
  write("rank-0.replica-0.elsewhere.err", "/log");
  write("rank-0.replica-1.elsewhere.err", "/log");
  write("rank-1.replica-1.err", "into a pipe\n");
  write("rank-1.replica-1.elsewhere.err", "");
  const int before = ::dup(STDERR_FILENO);
  ::dup2(file_, STDERR_FILENO);
  OutputRelay(folder_, 2, file_, [] { return 0; }).finish();
  OutputRelay(folder_, 2, file_, 2).finish();
  const std::string while_it_lived = shown();
  OutputRelay(folder_, 2, file_, [] { return 1; }).finish();
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  EXPECT_EQ(while_it_lived, "");
  EXPECT_EQ(shown(), "holdfast: replica 0, which wrote rank 0's output to /log, was taken out: all of it is in " +
                         folder_ + "/rank-0.replica-1.err\n");
}

class HeldLines : public RelayLines {
 protected:
  HeldStream held(int degree) {
    std::vector<std::string> paths;
    for (int k = 0; k < degree; ++k) paths.push_back(folder_ + "/" + std::to_string(k));
    return {paths, to_};
  }
};

TEST_F(HeldLines, AreShownWhenAMajorityHasWrittenThem) {
  HeldStream stream = held(3);
  write("0", "one\ntwo\n");
  stream.show();
  EXPECT_EQ(shown(), "");
  write("2", "one\nt");
  stream.show();
  EXPECT_EQ(shown(), "one\n");
  write("1", "one\ntwo\n");
  stream.show();
  EXPECT_EQ(shown(), "one\ntwo\n");
}

TEST_F(HeldLines, TheMajoritysAreShownWhoeverIsOdd) {
  HeldStream stream = held(3);
  write("0", "one\nBAD\nthree\n");
  for (const char* k : {"1", "2"}) write(k, "one\ntwo\nthree\n");
  stream.show();
  EXPECT_EQ(shown(), "one\ntwo\nthree\n");
  EXPECT_FALSE(stream.show_rest());
}

TEST_F(HeldLines, TwoReplicasThatDisagreeShowNothingUntilTheEnd) {
  HeldStream stream = held(2);
  write("0", "one\ntwo\n");
  write("1", "one\nTWO\n");
  stream.show();
  EXPECT_EQ(shown(), "one\n");
  EXPECT_TRUE(stream.show_rest());
  EXPECT_EQ(shown(), "one\ntwo\n");
}

TEST_F(HeldLines, AQuestionIsShownAfterAWhile) {
  HeldStream stream = held(2);
  for (const char* k : {"0", "1"}) write(k, "How many? ");
  stream.show();
  EXPECT_EQ(shown(), "");
  for (int look = 0; look < 100; ++look) stream.show();
  EXPECT_EQ(shown(), "How many? ");
}

TEST_F(HeldLines, MoreThanABlock) {
  HeldStream stream = held(2);
  const std::string much = std::string(100000, 'x') + "\n" + std::string(100000, 'y') + "\n";
  for (const char* k : {"0", "1"}) write(k, much);
  stream.show();
  EXPECT_EQ(shown(), much);
}

}  // namespace
}  // namespace holdfast::launch
