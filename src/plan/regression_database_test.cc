#include "plan/regression_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "core/database/sqlite_header.h"
#include "core/scratch/scratch_folder.h"

namespace holdfast::plan {
namespace {

using testing::HasSubstr;

/// A database with the two tables of a study that are read.
std::string database_with(const std::string& path, const std::string& rows) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const std::string sql =
      "PRAGMA application_id = " + std::to_string(database::holdfast_application_id) +
      "; CREATE TABLE given (group_name, fabric, traffic, engine, outcome, links, switches, rate, options);" +
      (rows.empty() ? "" : "INSERT INTO given VALUES " + rows) +
      "; CREATE TABLE point AS SELECT group_name, json_object('fabric', fabric, 'traffic', traffic, 'engine', engine, "
      "'options', json(options), 'number', rowid) AS key FROM given;"
      "CREATE TABLE run AS SELECT json_object('fabric', fabric, 'traffic', traffic, 'engine', engine, "
      "'options', json(options), 'number', rowid) AS key, outcome, json_object('failed_links', links, "
      "'failed_switches', switches, 'throughput_bytes_per_s', rate) AS result FROM given";
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  return path;
}

TEST(RegressionDatabase, FitsALineForEachEngine) {
  const scratch::ScratchFolder folder;
  const std::string path =
      database_with(folder.file("fit.sqlite"),
                    "('g','f','t','a','measured',0,0,100e9,NULL), ('g','f','t','a','measured',9,1,80e9,NULL),"
                    "('g','f','t','a','measured',18,2,60e9,NULL),"
                    "('g','f','t','b','measured',0,0,90e9,NULL), ('g','f','t','b','measured',9,1,90e9,NULL),"
                    "('g','f','t','b','refused',18,2,NULL,NULL), ('g','f','t','c','refused',0,0,NULL,NULL)");
  EXPECT_TRUE(is_database(path));
  const auto file = read_regression_database(path, "");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file.value().failures, "links and switches");
  EXPECT_EQ(file.value().unit, "GB/s");
  ASSERT_EQ(file.value().engines.size(), 2U);
  EXPECT_NEAR(file.value().engines[0].intercept, 100, 1e-9);
  EXPECT_NEAR(file.value().engines[0].slope, -2, 1e-9);
  EXPECT_NEAR(file.value().engines[0].r2, 1, 1e-9);
  EXPECT_DOUBLE_EQ(file.value().engines[0].most_failures, 20);
  EXPECT_DOUBLE_EQ(file.value().engines[1].most_failures, 10) << "refused at 20";
  EXPECT_THAT(file.value().source, HasSubstr("7 runs"));
}

TEST(RegressionDatabase, AnothersFileIsNotTouched) {
  const scratch::ScratchFolder folder;
  const std::string path = folder.file("theirs.sqlite");
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "PRAGMA journal_mode = WAL; CREATE TABLE throughput (a)", nullptr, nullptr, nullptr),
            SQLITE_OK);
  // with its log, as a process that was killed leaves it
  for (const char* end : {"", "-wal"}) std::filesystem::copy(path + end, folder.file("copy.sqlite") + end);
  sqlite3_close(database);
  const auto size = [&](const char* end) { return std::filesystem::file_size(folder.file("copy.sqlite") + end); };
  const auto before = size("");
  const auto logged = size("-wal");
  EXPECT_THAT(read_regression_database(folder.file("copy.sqlite"), "").status().message(),
              HasSubstr("not one of 'holdfast study'"));
  EXPECT_EQ(size(""), before);
  EXPECT_EQ(size("-wal"), logged);
  EXPECT_FALSE(std::filesystem::exists(folder.file("copy.sqlite-shm")));
}

TEST(RegressionDatabase, SaysWhatThereIsToChoose) {
  const scratch::ScratchFolder folder;
  const std::string two =
      database_with(folder.file("two.sqlite"),
                    "('g','f','t','a','measured',0,0,1e9,NULL), ('g','f','t','a','measured',2,0,1e9,NULL),"
                    "('h','f','t','a','measured',0,0,1e9,NULL), ('h','f2','t','a','measured',2,0,1e9,NULL)");
  EXPECT_THAT(read_regression_database(two, "").status().message(), HasSubstr("the groups 'g', 'h'"));
  EXPECT_THAT(read_regression_database(two, "x").status().message(), HasSubstr("no group 'x'"));
  EXPECT_THAT(read_regression_database(two, "h").status().message(), HasSubstr("several fabrics"));
  EXPECT_EQ(read_regression_database(two, "g").value().failures, "links");
  const std::string options = database_with(folder.file("options.sqlite"),
                                            "('g','f','t','a','measured',0,0,1e9,'{\"simulate.mtu\":\"256\"}'),"
                                            "('g','f','t','a','measured',2,0,1e9,NULL)");
  EXPECT_THAT(read_regression_database(options, "").status().message(), HasSubstr("simulate.mtu"));
  const std::string none = database_with(folder.file("none.sqlite"), "");
  EXPECT_THAT(read_regression_database(none, "").status().message(), HasSubstr("no finished run"));
  const std::string one = database_with(folder.file("one.sqlite"), "('g','f','t','a','measured',0,0,1e9,NULL)");
  EXPECT_THAT(read_regression_database(one, "").status().message(), HasSubstr("two numbers of failures"));
  const std::string text = folder.file("text.sqlite");
  std::ofstream(text) << "{}";
  EXPECT_FALSE(is_database(text));
  EXPECT_EQ(read_regression_database(text, "").status().code(), Code::bad_input);
  EXPECT_EQ(read_regression_database("/does/not/exist", "").status().code(), Code::not_found);
}

}  // namespace
}  // namespace holdfast::plan
