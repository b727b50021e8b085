#include "simulate/study/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "core/scratch/scratch_folder.h"
#include "simulate/study/provenance.h"

namespace holdfast::simulate::study {
namespace {

using testing::HasSubstr;

class Small final : public Study {
 public:
  explicit Small(std::string its_name = "small", int count = 3) {
    name = std::move(its_name);
    kind = "throughput";
    text = "text";
    for (int i = 0; i < count; ++i) {
      Json parameters = {{"fabric", "f"}, {"seed", i}};
      points.push_back({"g", parameters, parameters.dump()});
    }
  }
  Result<Finished> run(std::size_t index) const override {
    return Finished{"measured", {{"value", index}, {"odd", "\xff"}}, 1};
  }
};

/// Files of its own for every test.
class DatabaseTest : public testing::Test {
 protected:
  std::string fresh(const std::string& name) const { return folder_.file(name); }
  scratch::ScratchFolder folder_;
};

TEST_F(DatabaseTest, KeepsRunsAcrossOpeningAndAChangedStudy) {
  const std::string path = fresh("keeps.sqlite");
  const Small study;
  {
    auto database = Database::open_to_write(path, study);
    ASSERT_TRUE(database.ok()) << database.status().message();
    ASSERT_TRUE(database.value().add(study.points[1], study.run(1).value()).ok());
    ASSERT_TRUE(database.value().add(study.points[1], {"refused", Json::object(), 0}).ok()) << "the first stays";
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".lock"));
  auto database = Database::open_to_write(path, Small("small", 5));
  ASSERT_TRUE(database.ok()) << database.status().message();
  EXPECT_THAT(database.value().keys().value(), testing::ElementsAre(study.points[1].key));
  const auto rows = database.value().rows().value();
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_FALSE(rows[0].finished);
  ASSERT_TRUE(rows[1].finished);
  EXPECT_EQ(rows[1].finished->outcome, "measured");
  EXPECT_EQ(rows[1].finished->result["value"], 1);
  EXPECT_EQ(rows[1].parameters["seed"], 1);
}

TEST_F(DatabaseTest, TurnsAwayWhatIsNotItsOwn) {
  const std::string path = fresh("turns.sqlite");
  const Small study;
  {
    auto first = Database::open_to_write(path, study);
    ASSERT_TRUE(first.ok());
    const auto second = Database::open_to_write(path, study);
    EXPECT_THAT(second.status().message(), HasSubstr("another process is writing"));
    EXPECT_TRUE(Database::open_to_read(path).ok());
  }
  EXPECT_THAT(Database::open_to_write(path, Small("other")).status().message(), HasSubstr("holds the study 'small'"));
  const std::string text = fresh("text.sqlite");
  std::ofstream(text) << "this is not a database, and long enough to have a header of its own, that is 100 bytes or so";
  EXPECT_EQ(Database::open_to_write(text, study).status().code(), Code::bad_input);
  EXPECT_EQ(Database::open_to_read(text).status().code(), Code::bad_input);
  EXPECT_EQ(Database::open_to_read("/does/not/exist").status().code(), Code::not_found);
  EXPECT_EQ(Database::open_to_write("/does/not/exist", study).status().code(), Code::io);
}

TEST_F(DatabaseTest, TheLoserOfTheLockLeavesItAlone) {
  const std::string path = fresh("lock.sqlite");
  const Small study;
  const auto first = Database::open_to_write(path, study);
  ASSERT_TRUE(first.ok());
  for (int other = 0; other < 3; ++other) {
    EXPECT_FALSE(Database::open_to_write(path, study).ok()) << other;
    EXPECT_TRUE(std::filesystem::exists(path + ".lock")) << other;
  }
  std::filesystem::create_symlink(path, fresh("link.sqlite"));
  EXPECT_FALSE(Database::open_to_write(fresh("link.sqlite"), study).ok()) << "by another name";
}

TEST_F(DatabaseTest, ALockFileThatNobodyHoldsIsNoObstacle) {
  const std::string path = fresh("left.sqlite");
  std::ofstream(path + ".lock") << "";
  const auto opened = Database::open_to_write(path, Small());
  EXPECT_TRUE(opened.ok()) << opened.status().message();
}

/// A file and what stands beside it, to be compared.
std::map<std::string, std::string> bytes_in(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    all[entry.path().filename().string()] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  return all;
}

TEST_F(DatabaseTest, AnothersFileIsNotTouched) {
  for (const char* mode : {"DELETE", "WAL"}) {
    const scratch::ScratchFolder foreign;
    const std::string path = foreign.file("foreign.sqlite");
    sqlite3* made = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &made), SQLITE_OK);
    const std::string sql = std::string("PRAGMA journal_mode = ") + mode +
                            "; CREATE TABLE study (a); CREATE TABLE throughput (a); INSERT INTO study VALUES (1)";
    ASSERT_EQ(sqlite3_exec(made, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    // In WAL mode the file is copied with its log, as a process that was killed leaves it.
    const scratch::ScratchFolder copy;
    for (const char* end : {"", "-wal"})
      if (std::filesystem::exists(path + end)) std::filesystem::copy(path + end, copy.file("f.sqlite") + end);
    sqlite3_close(made);
    const auto before = bytes_in(copy.path());
    EXPECT_EQ(Database::open_to_write(copy.file("f.sqlite"), Small()).status().code(), Code::bad_input);
    EXPECT_EQ(Database::open_to_read(copy.file("f.sqlite")).status().code(), Code::bad_input);
    EXPECT_EQ(bytes_in(copy.path()), before) << mode;
  }
}

TEST_F(DatabaseTest, OursIsKnownByItsLogWhereTheFileItselfDoesNotSayItYet) {
  // As an earlier version left it when it was killed: the mark in the write-ahead log alone.
  const std::string path = fresh("killed.sqlite"), copy = fresh("copy.sqlite");
  sqlite3* made = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &made), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(made,
                         "PRAGMA journal_mode = WAL; CREATE TABLE study (name TEXT, kind TEXT, title TEXT, text TEXT);"
                         "CREATE TABLE point (number INTEGER PRIMARY KEY, group_name TEXT, key TEXT);"
                         "CREATE TABLE run (key TEXT PRIMARY KEY, outcome TEXT, result TEXT, cpu_s REAL);"
                         "INSERT INTO study VALUES ('small', 'throughput', '', '');"
                         "PRAGMA application_id = 1213156422; PRAGMA user_version = 1",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  std::filesystem::copy(path, copy);
  std::filesystem::copy(path + "-wal", copy + "-wal");
  sqlite3_close(made);
  const auto opened = Database::open_to_read(copy);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
}

TEST_F(DatabaseTest, RunsOfOtherInputsOrProgramsAreKeptAndToldApart) {
  const std::string path = fresh("outdated.sqlite");
  Small study("small", 3);
  const auto make = [&](const char* digest, const char* program) {
    for (Point& point : study.points) {
      if (digest != nullptr) point.parameters["inputs"]["fabric"] = digest;
      if (program != nullptr) point.parameters["computed_by"] = program;
      point.key = point.parameters.dump();
    }
  };
  const auto run_all = [&] {
    auto database = Database::open_to_write(path, study);
    ASSERT_TRUE(database.ok()) << database.status().message();
    for (std::size_t i = 0; i < study.points.size(); ++i)
      ASSERT_TRUE(database.value().add(study.points[i], study.run(i).value()).ok());
  };
  run_all();  // as an old program did
  const std::string today = computed_by("throughput");
  make("xxh3-128:1", today.c_str());
  run_all();
  make("xxh3-128:2", nullptr);
  {
    auto database = Database::open_to_write(path, study);
    ASSERT_TRUE(database.ok());
    const auto rows = database.value().rows().value();
    for (const Database::Row& row : rows) EXPECT_FALSE(row.finished);
    const std::map<std::string, std::size_t> expected = {{"computed before versions were kept", 3},
                                                         {"f has other contents now", 3}};
    EXPECT_EQ(database.value().outdated().value(), expected);
    study.points.pop_back();
  }
  auto database = Database::open_to_write(path, study);
  EXPECT_EQ(database.value().outdated().value().at("f has other contents now"), 2U) << "a point less";
  const auto stored = database.value().study().value();
  ASSERT_EQ(stored->points.size(), 2U);
  EXPECT_EQ(stored->points[1].key, study.points[1].key);
  EXPECT_FALSE(stored->run(0).ok());
}

TEST_F(DatabaseTest, ARunThatIsNoObjectIsDamage) {
  for (const Json& wrong : {Json(3), Json::array(), Json("text"), Json()}) {
    const Small study;
    auto database = Database::open_to_write(fresh(wrong.dump() + ".sqlite"), study);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database.value().add(study.points[0], {"measured", wrong, 1}).ok());
    EXPECT_THAT(database.value().rows().status().message(), HasSubstr("the file is damaged"));
  }
}

TEST_F(DatabaseTest, WhatNestsTooDeepIsDamage) {
  for (const auto& [depth, read] : {std::pair(63, true), std::pair(64, false), std::pair(100'000, false)}) {
    Small study;
    const auto count = static_cast<std::size_t>(depth);
    study.points[0].key = R"({"a\"{[":)" + std::string(count, '[') + std::string(count, ']') + "}";
    auto database = Database::open_to_write(fresh(std::to_string(depth) + ".sqlite"), study);
    ASSERT_TRUE(database.ok());
    EXPECT_EQ(database.value().rows().ok(), read) << depth;
  }
}

TEST_F(DatabaseTest, MergesSharesAndSeesContradictions) {
  const Small study;
  auto target = Database::open_to_write(fresh("merge_target.sqlite"), study);
  auto one = Database::open_to_write(fresh("merge_one.sqlite"), study);
  auto two = Database::open_to_write(fresh("merge_two.sqlite"), study);
  ASSERT_TRUE(target.ok() && one.ok() && two.ok());
  ASSERT_TRUE(one.value().add(study.points[0], study.run(0).value()).ok());
  ASSERT_TRUE(one.value().add(study.points[1], study.run(1).value()).ok());
  ASSERT_TRUE(two.value().add(study.points[1], study.run(1).value()).ok());
  std::size_t added = 9;
  ASSERT_TRUE(target.value().take_over(one.value(), added).ok());
  EXPECT_EQ(added, 2U);
  ASSERT_TRUE(target.value().take_over(two.value(), added).ok());
  EXPECT_EQ(added, 0U);
  ASSERT_TRUE(two.value().add(study.points[2], study.run(2).value()).ok());
  ASSERT_TRUE(one.value().add(study.points[2], {"measured", {{"value", 7}}, 1}).ok());
  ASSERT_TRUE(target.value().take_over(two.value(), added).ok());
  const Status status = target.value().take_over(one.value(), added);
  EXPECT_THAT(status.message(), HasSubstr("another result"));
  EXPECT_EQ(target.value().keys().value().size(), 3U);
  auto other = Database::open_to_write(fresh("merge_other.sqlite"), Small("other"));
  EXPECT_THAT(target.value().take_over(other.value(), added).message(), HasSubstr("'other'"));
}

}  // namespace
}  // namespace holdfast::simulate::study
