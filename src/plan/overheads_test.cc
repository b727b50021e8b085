#include "plan/overheads.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace holdfast::plan {
namespace {

TEST(Overheads, OfThePaperAreLabelled) {
  const Overheads lu = paper_overheads("lu");
  EXPECT_DOUBLE_EQ(lu.at(1), 1);
  EXPECT_DOUBLE_EQ(lu.at(1.5), 1.065);
  EXPECT_DOUBLE_EQ(lu.at(2), 1.13);
  EXPECT_DOUBLE_EQ(lu.at(2.5), 1.17);
  EXPECT_DOUBLE_EQ(lu.at(3), 1.21);
  EXPECT_FALSE(lu.measured);
  EXPECT_NE(lu.source.find("gave no replication.overheads"), std::string::npos);
  EXPECT_DOUBLE_EQ(paper_overheads("cg").triple, 1.62);
  EXPECT_DOUBLE_EQ(paper_overheads("ft").dual, 1.39);
}

TEST(Overheads, AreReadFromTheBenchmarksResult) {
  const auto read = read_overheads(R"({"mpi": "openmpi", "ratios": {"2 msg-plus-hash": {"median": 1.05, "all": []},
      "3 msg-plus-hash": {"median": 1.1}, "3 all-to-all": {"median": 1.4}}})",
                                   "o.json");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read.value().measured);
  EXPECT_DOUBLE_EQ(read.value().at(2), 1.05);
  EXPECT_DOUBLE_EQ(read.value().at(3), 1.1);
}

TEST(Overheads, OfThisProjectAreRead) {
  for (const char* program : {"cg", "lammps"}) {
    const std::string path = std::string(HOLDFAST_SOURCE_DIR "/docs/results/replication-overhead-") + program + ".json";
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto read = read_overheads(text, path);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_GT(read.value().dual, 0.5);
    EXPECT_GT(read.value().triple, 0.5);
    EXPECT_LT(read.value().triple, 5);
  }
}

TEST(Overheads, RefuseWhatIsNoResult) {
  for (const char* text : {"", "[]", "{}", "{\"ratios\": 3}", "{\"ratios\": {\"2 msg-plus-hash\": {\"median\": 1}}}",
                           R"({"ratios": {"2 msg-plus-hash": {"median": "1"}, "3 msg-plus-hash": {"median": 1}}})",
                           R"({"ratios": {"2 msg-plus-hash": {"median": -1}, "3 msg-plus-hash": {"median": 1}}})"}) {
    EXPECT_EQ(read_overheads(text, "o.json").status().code(), Code::bad_input) << text;
  }
}

}  // namespace
}  // namespace holdfast::plan
