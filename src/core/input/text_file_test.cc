#include "core/input/text_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "core/scratch/scratch_folder.h"

namespace holdfast::input {
namespace {

class TextFile : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_.file(name); }
  std::string made(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
    return at(name);
  }
  static Code code(const std::string& path) { return read_text_file(path, "the study").status().code(); }

  scratch::ScratchFolder folder_;
};

TEST_F(TextFile, IsReadWhole) {
  const std::string text(300'000, 'x');
  EXPECT_EQ(read_text_file(made("long", text)).value(), text);
  EXPECT_EQ(read_text_file(made("empty", "")).value(), "");
  EXPECT_EQ(read_text_file("/proc/self/comm").value().empty(), false);  // says that it has 0 bytes
}

TEST_F(TextFile, WhatIsNamedWronglyIsBadInputWhateverTheSystemCallsIt) {
  EXPECT_EQ(code(at("missing")), Code::not_found);
  EXPECT_EQ(code(""), Code::not_found);
  EXPECT_EQ(code(folder_.path()), Code::bad_input);
  EXPECT_EQ(code(at(std::string(5'000, 'n'))), Code::bad_input);
  EXPECT_EQ(code(made("file", "x") + "/below"), Code::bad_input);
  std::filesystem::create_symlink(at("loop"), at("loop"));
  EXPECT_EQ(code(at("loop")), Code::bad_input);
  EXPECT_EQ(code(made("binary", std::string("a\0b", 3))), Code::bad_input);
  EXPECT_EQ(read_file(at("binary")).value().size(), 3U);
}

TEST_F(TextFile, WhatHasNoEndIsRefusedAtItsFirstPiece) {
  EXPECT_EQ(code("/dev/zero"), Code::bad_input);
  const auto limited = read_text_file(made("long", std::string(1'000, 'x')), "", 999);
  EXPECT_EQ(limited.status().code(), Code::bad_input);
  EXPECT_EQ(read_text_file(at("long"), "", 1'000).ok(), true);
}

TEST_F(TextFile, OthersReadRegularFilesAlone) {
  EXPECT_TRUE(check_file(made("file", ""), "the database").ok());
  EXPECT_EQ(check_file(at("missing"), "the database").code(), Code::not_found);
  EXPECT_EQ(check_file(folder_.path(), "the database").code(), Code::bad_input);
  EXPECT_EQ(check_file("/dev/null", "the database").message(),
            "reading the database /dev/null: it is no regular file: copy it to one");
}

TEST_F(TextFile, MessagesSayWhatWasRead) {
  EXPECT_EQ(read_text_file(folder_.path(), "the study").status().message(),
            "reading the study " + folder_.path() + ": it is a directory: name a file in it");
}

}  // namespace
}  // namespace holdfast::input
