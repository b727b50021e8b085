#include "core/database/sqlite_header.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/scratch/scratch_folder.h"

namespace holdfast::database {
namespace {

class SqliteHeaderTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.file(name), std::ios::binary) << bytes;
    return folder_.file(name);
  }
  static std::string page(std::uint32_t id, std::uint32_t version, std::size_t bytes = 512) {
    std::string text("SQLite format 3\0", 16);
    text.resize(bytes, '\0');
    for (int i = 0; i < 4; ++i) {
      text[static_cast<std::size_t>(68 + i)] = static_cast<char>(id >> (24 - 8 * i));
      text[static_cast<std::size_t>(60 + i)] = static_cast<char>(version >> (24 - 8 * i));
    }
    return text;
  }
  static std::string big_endian(std::uint32_t value) {
    std::string text;
    for (int i = 0; i < 4; ++i) text += static_cast<char>(value >> (24 - 8 * i));
    return text;
  }
  static std::string frame(std::uint32_t number, const std::string& salt, const std::string& page) {
    return big_endian(number) + big_endian(1) + salt + std::string(8, 'c') + page;
  }
  static std::string log(const std::string& salt) {
    return big_endian(0x377f0683) + big_endian(3007000) + big_endian(512) + big_endian(0) + salt + std::string(8, 'c');
  }
  scratch::ScratchFolder folder_;
};

TEST_F(SqliteHeaderTest, SaysWhoseItIs) {
  const auto header = read_sqlite_header(write("a", page(holdfast_application_id, 7)));
  ASSERT_TRUE(header.ok()) << header.status().message();
  ASSERT_TRUE(header.value());
  EXPECT_EQ(header.value()->application_id, holdfast_application_id);
  EXPECT_EQ(header.value()->user_version, 7U);
}

TEST_F(SqliteHeaderTest, TheLogKnowsBetterWhereItIsOfThisUse) {
  const std::string path = write("a", page(0, 0));
  const std::string salt = "saltsalt";
  write("a-wal", log(salt) + frame(2, salt, std::string(512, 'x')) + frame(1, salt, page(5, 1)) +
                     frame(1, salt, page(6, 2)) + frame(1, "oldsalt!", page(9, 9)));
  EXPECT_EQ(read_sqlite_header(path).value()->application_id, 6U);
  write("a-wal", log(salt) + frame(1, "oldsalt!", page(9, 9)));
  EXPECT_EQ(read_sqlite_header(path).value()->application_id, 0U);
  for (const std::string& damaged : {std::string("x"), log(salt).substr(0, 31), log(salt) + "1234",
                                     log(salt) + frame(1, salt, page(5, 1)).substr(0, 60)}) {
    write("a-wal", damaged);
    EXPECT_EQ(read_sqlite_header(path).value()->application_id, 0U);
  }
}

TEST_F(SqliteHeaderTest, WhatIsNoDatabaseIsSaid) {
  EXPECT_FALSE(read_sqlite_header(write("empty", "")).value());
  EXPECT_EQ(read_sqlite_header(folder_.file("none")).status().code(), Code::not_found);
  EXPECT_EQ(read_sqlite_header(folder_.path()).status().code(), Code::bad_input);
  EXPECT_EQ(read_sqlite_header("/dev/null").status().code(), Code::bad_input);
  EXPECT_EQ(read_sqlite_header(write("text", std::string(200, 'x'))).status().code(), Code::bad_input);
  EXPECT_EQ(read_sqlite_header(write("short", "SQLite format 3")).status().code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::database
