#include "replicate/launch/compare/file_state.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast::launch {
namespace {

using replicate::FilePlace;

class FileStates : public ::testing::Test {
 protected:
  FileStates() { std::filesystem::create_directories(folder_); }
  ~FileStates() override { std::filesystem::remove_all(folder_); }
  FilePlace file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    FilePlace place{FilePlace::Layer::real, folder_ + "/" + name, {}};
    ::lstat(place.path.c_str(), &place.status);
    return place;
  }
  FileState state(const FilePlace& place) { return state_of(place, digester_); }

  std::string folder_ = ::testing::TempDir() + "states-" + std::to_string(getpid());
  integrity::Digester digester_{integrity::Algorithm::xxh3_128};
};

TEST_F(FileStates, FilesAreTheirContents) {
  EXPECT_EQ(state(file("a", "same")), state(file("b", "same")));
  EXPECT_NE(state(file("a", "same")), state(file("b", "sane")));
  EXPECT_NE(state(file("a", "")), state(FilePlace{}));
}

TEST_F(FileStates, WhatCannotBeReadAgreesWithNothing) {
  const FilePlace one = file("a", "x");
  const FilePlace other = file("b", "y");
  std::filesystem::remove(one.path);
  std::filesystem::remove(other.path);
  EXPECT_TRUE(state(one).unreadable);
  EXPECT_NE(state(one), state(other));
  EXPECT_EQ(majority({state(one), state(other)}), -1);
}

TEST_F(FileStates, TheFirstDifference) {
  const FilePlace one = file("a", std::string(3000000, 'x') + "y");
  EXPECT_EQ(first_difference(one, file("b", std::string(3000000, 'x') + "z")), 3000000);
  EXPECT_EQ(first_difference(one, file("b", "xxx")), 3);
  EXPECT_EQ(first_difference(one, one), -1);
  EXPECT_EQ(first_difference(one, FilePlace{}), -1);
}

TEST_F(FileStates, MoreThanHalfAreTheMajority) {
  const FileState a = state(file("a", "a"));
  const FileState b = state(file("b", "b"));
  EXPECT_EQ(majority({a, b, b}), 1);
  EXPECT_EQ(majority({a, b}), -1);
  EXPECT_EQ(majority({a, a, b, b}), -1);
}

}  // namespace
}  // namespace holdfast::launch
