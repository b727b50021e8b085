#include "replicate/process/first_told.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/scratch/scratch_folder.h"

namespace holdfast::replicate {
namespace {

class FirstTold : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string ask(const std::string& own, const std::string& draft = "draft") const {
    return first_told(at("answer"), at(draft), own);
  }
  void put(const std::string& text) const { std::ofstream(at("answer")) << text; }
  long files() const { return std::distance(std::filesystem::directory_iterator(folder_.path()), {}); }

 private:
  scratch::ScratchFolder folder_;
};

TEST_F(FirstTold, TheFirstOneIsTheAnswerOfAll) {
  const std::string first("one\0two\n", 8);
  EXPECT_EQ(ask(first), first);
  EXPECT_EQ(ask("another"), first);
  EXPECT_EQ(files(), 1);  // no draft is left
}

TEST_F(FirstTold, AnEmptyAnswerIsOne) {
  EXPECT_EQ(ask(""), "");
  EXPECT_EQ(ask("another"), "");
}

TEST_F(FirstTold, ManyAtOnceAreToldTheSame) {
  constexpr int askers = 8;
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> told(askers);
    std::vector<std::thread> threads;
    const std::string name = at("answer" + std::to_string(round));
    for (int i = 0; i < askers; ++i)
      threads.emplace_back([&, i] {
        const std::string own(static_cast<std::size_t>(1000 + i), static_cast<char>('a' + i));
        told[static_cast<std::size_t>(i)] = first_told(name, at("draft" + std::to_string(i)), own);
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::set<std::string>(told.begin(), told.end()).size(), 1U);
    EXPECT_GE(told[0].size(), 1000U);
  }
  EXPECT_EQ(files(), 50);
}

TEST_F(FirstTold, WhatIsNoAnswerIsNotTaken) {
  std::filesystem::create_directory(at("answer"));
  EXPECT_EQ(ask("own"), "own");
  std::filesystem::remove(at("answer"));
  std::filesystem::create_symlink("elsewhere", at("answer"));
  std::ofstream(at("elsewhere")) << "another's";
  EXPECT_EQ(ask("own"), "own");
  std::filesystem::remove(at("answer"));
  put(std::string((1U << 20) + 1, 'x'));
  EXPECT_EQ(ask("own"), "own");
  std::filesystem::remove(at("answer"));
  EXPECT_EQ(ask(std::string((1U << 20) + 1, 'y')).size(), (1U << 20) + 1);
  EXPECT_FALSE(std::filesystem::exists(at("answer")));
}

TEST_F(FirstTold, WithoutAFolderItIsOnesOwn) {
  errno = 7;
  EXPECT_EQ(first_told(at("no/such"), at("no/draft"), "own"), "own");
  EXPECT_EQ(count_in_file(at("no/such")), -1);
  EXPECT_EQ(errno, 7);
}

TEST_F(FirstTold, ADraftThatIsThereIsNobodys) {
  std::ofstream(at("draft")) << "cut off";  // by one that was killed
  EXPECT_EQ(ask("own"), "own");
  EXPECT_EQ(ask("another"), "another");  // which the first one has removed
  EXPECT_EQ(ask("third"), "another");
}

TEST_F(FirstTold, CountsGoUpFromZeroOnceForEach) {
  constexpr int callers = 8;
  std::vector<std::thread> threads;
  std::vector<long> counts(callers);
  for (int i = 0; i < callers; ++i)
    threads.emplace_back([&, i] { counts[static_cast<std::size_t>(i)] = count_in_file(at("answer")); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<long>(counts.begin(), counts.end()), (std::set<long>{0, 1, 2, 3, 4, 5, 6, 7}));
  for (const char* const other : {"many", "-3", "999999999999999999999", "1000000000"}) {
    put(other);
    EXPECT_EQ(count_in_file(at("answer")), -1) << other;
  }
}

}  // namespace
}  // namespace holdfast::replicate
