#include "core/config/toml_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "core/config/sample_options_for_tests.h"

namespace holdfast::config {
namespace {

std::string read(Settings<sample::Options>& settings, std::string_view text) {
  AnySettings* const all[] = {&settings};
  return read_toml(text, "x.toml", all).message();
}

std::string error(std::string_view text) {
  Settings<sample::Options> settings(sample::table());
  return read(settings, text);
}

TEST(TomlFile, ReadsEveryTypeWithItsPlace) {
  Settings<sample::Options> settings(sample::table());
  EXPECT_EQ(read(settings,
                 "# settings\n[replicate]\nprotocol = \"all-to-all\"\nack-delay = \"2ms\"\noffset = -4\nwindow = 12\n"
                 "share = 0.5\nverify = false\nmap = 'm'\ndegree = \"4\"\n"),
            "ok");
  EXPECT_EQ(settings.options().protocol, sample::Protocol::all_to_all);
  EXPECT_EQ(settings.options().ack_delay_ns, 2'000'000);
  EXPECT_EQ(settings.options().offset, -4);
  EXPECT_EQ(settings.options().window, 12);
  EXPECT_EQ(settings.options().share, 0.5);
  EXPECT_FALSE(settings.options().verify);
  EXPECT_EQ(settings.options().map, "m");
  EXPECT_EQ(settings.options().degree, 4);
  EXPECT_EQ(origin_text(settings.show()[1].origin), "x.toml line 4");
}

TEST(TomlFile, ErrorsNameFileAndLineAndHint) {
  EXPECT_EQ(error("[replicate]\n\nprotcol = 'x'\n"),
            "reading x.toml line 3: unknown option 'replicate.protcol': did you mean 'replicate.protocol'?");
  EXPECT_EQ(error("replicate.nested.protocol = 'x'\n"),
            "reading x.toml line 1: unknown option 'replicate.nested.protocol': did you mean 'replicate.protocol'?");
  EXPECT_EQ(error("\n[replicat]\nprotocol = 'x'\n"),
            "reading x.toml line 2: unknown component 'replicat': did you mean 'replicate'?");
  EXPECT_EQ(error("replicate = 3\n"),
            "reading x.toml line 1: 'replicate' is a component, not an option: write its options below [replicate]");
  EXPECT_EQ(error("[replicate]\nwindow = 0\n"),
            "reading x.toml line 2: '0' is out of bounds for replicate.window: give a value of 1 to 4096 packets");
  EXPECT_EQ(
      error("[replicate]\nwindow = [1]\n"),
      "reading x.toml line 2: the value of 'replicate.window' is no string, number or boolean: write it in quotes");
  EXPECT_EQ(
      error("[replicate]\nwindow = {a = 1}\n"),
      "reading x.toml line 2: the value of 'replicate.window' is no string, number or boolean: write it in quotes");
  std::string deep = "[replicate";
  for (int i = 0; i < 60; ++i) deep += ".a";
  EXPECT_THAT(error(deep + "]\nb = 1\n"), testing::StartsWith("reading x.toml line 1: unknown option 'replicate.a.a."));
  EXPECT_TRUE(error("[replicate\n").starts_with("reading x.toml line 1: ")) << error("[replicate\n");
}

TEST(TomlFile, ReadsAFileAndSaysWhenThereIsNone) {
  const std::string path = testing::TempDir() + "holdfast_toml_file_test-" + std::to_string(::getpid());
  std::ofstream(path) << "[replicate]\nwindow = 77\n";
  Settings<sample::Options> settings(sample::table());
  AnySettings* const all[] = {&settings};
  EXPECT_EQ(read_toml_file(path, all).message(), "ok");
  EXPECT_EQ(settings.options().window, 77);
  std::ofstream(path, std::ios::trunc).flush();
  EXPECT_EQ(read_toml_file(path, all).message(), "ok");
  std::remove(path.c_str());
  EXPECT_EQ(read_toml_file(path, all).code(), Code::not_found);
  EXPECT_EQ(read_toml_file(testing::TempDir(), all).code(), Code::bad_input);
}

}  // namespace
}  // namespace holdfast::config
