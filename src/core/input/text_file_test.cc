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

/// A gigabyte of text must not need two.
TEST_F(TextFile, TakesItsSizeInMemoryAndNoMore) {
  for (const std::size_t size : {std::size_t{1} << 20, (std::size_t{1} << 20) + 1, std::size_t{3} << 20}) {
    const std::string text = read_text_file(made("large", std::string(size, 'x'))).value();
    EXPECT_EQ(text.size(), size);
    EXPECT_LE(text.capacity(), size + (std::size_t{1} << 17));
  }
}

/// The file has no bytes on the disk; none of them is read.
TEST_F(TextFile, MoreThanTheMemoryIsRefusedBeforeItIsRead) {
  made("huge", "");
  std::filesystem::resize_file(at("huge"), std::uintmax_t{1} << 43);
  const Status status = read_text_file(at("huge"), "", std::uint64_t{1} << 62).status();
  EXPECT_EQ(status.code(), Code::bad_input);
  EXPECT_NE(status.message().find("huge: it needs about 8.8 TB of memory, and "), std::string::npos)
      << status.message();
  EXPECT_NE(read_text_file(at("huge")).status().message().find("more than 4294967296 bytes"), std::string::npos);
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
