#include "replicate/launch/plan/left_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/scratch/scratch_folder.h"

namespace holdfast::launch {
namespace {

TEST(ProcessNamed, IsDigitsAndAPoint) {
  const auto name = process_named("incident-12.3.json", "incident-", ".json");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->rank, 12);
  EXPECT_EQ(name->replica, 3);
  for (const char* other : {"incident-1.2", "incident-1.2.json.draft", "incident-+1.2.json", "incident- 1.2.json",
                            "incident-1.-2.json", "incident-1.json", "incident-.2.json", "Incident-1.2.json", ""})
    EXPECT_FALSE(process_named(other, "incident-", ".json")) << other;
  EXPECT_FALSE(process_named("counted-4294967297.0", "counted-")) << "which would be rank 1 in 32 bits";
}

class LeftFile : public ::testing::Test {
 protected:
  std::string leave(const std::string& name, const std::string& text) const {
    std::ofstream(folder_.path() + "/" + name, std::ios::binary) << text;
    return folder_.path() + "/" + name;
  }
  scratch::ScratchFolder folder_;
};

TEST_F(LeftFile, IsReadUpToALimit) {
  const std::string path = leave("a", "0123456789");
  EXPECT_EQ(read_left_file(path, 100), "0123456789");
  EXPECT_EQ(read_left_file(path, 4), "0123");
  EXPECT_EQ(read_left_file(folder_.path(), 4), "");
  EXPECT_EQ(read_left_file(path + "x", 4), "");
}

TEST_F(LeftFile, IsNotWaitedForWhenItIsAPipe) {
  const std::string path = folder_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_left_file(path, 4), "");
  EXPECT_TRUE(read_json_file(path).is_null());
}

TEST_F(LeftFile, OfJsonIsOneObject) {
  EXPECT_EQ(read_json_file(leave("a.json", R"({"job": "this"})"))["job"], "this");
  EXPECT_TRUE(read_json_file(leave("b.json", "[1]")).is_null());
  EXPECT_TRUE(read_json_file(leave("c.json", R"({"job": )")).is_null());
  EXPECT_TRUE(read_json_file(folder_.path() + "/none").is_null());
  const std::string deep = R"({"job": "this", "a": )" + std::string(500'000, '[') + std::string(500'000, ']') + "}";
  EXPECT_TRUE(read_json_file(leave("d.json", deep)).is_null());
}

TEST_F(LeftFile, OfAnotherJobIsNone) {
  EXPECT_TRUE(read_jobs_file(leave("a.json", R"({"job": "this"})"), "this").is_object());
  EXPECT_TRUE(read_jobs_file(leave("b.json", R"({"job": "other"})"), "this").is_null());
  EXPECT_TRUE(read_jobs_file(leave("c.json", R"({"job": ["this"]})"), "this").is_null());
  EXPECT_TRUE(read_jobs_file(leave("d.json", "{}"), "this").is_null());
}

}  // namespace
}  // namespace holdfast::launch
