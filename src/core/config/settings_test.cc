#include "core/config/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/config/sample_options_for_tests.h"

namespace holdfast::config {
namespace {

using SampleSettings = Settings<sample::Options>;

Origin from(Source source) {
  return {source, "there"};
}

TEST(Settings, StartWithTheDefaults) {
  const SampleSettings settings(sample::table());
  EXPECT_EQ(settings.options().window, 64);
  EXPECT_EQ(origin_text(settings.show()[0].origin), "default");
}

TEST(Settings, WhatNobodyGaveIsTold) {
  SampleSettings settings(sample::table());
  const std::size_t rows = settings.show().size();
  ASSERT_EQ(settings.left_at_defaults().size(), rows);
  ASSERT_TRUE(settings.set("replicate.window", "64", from(Source::file)));
  const std::vector<std::string> left = settings.left_at_defaults();
  EXPECT_EQ(left.size(), rows - 1);
  for (const std::string& one : left) EXPECT_FALSE(one.starts_with("replicate.window ")) << one;
}

TEST(Settings, SetEveryType) {
  SampleSettings settings(sample::table());
  for (const auto& [name, text] : {std::pair{"replicate.protocol", "all-to-all"},
                                   {"replicate.ack-delay", "1s"},
                                   {"replicate.offset", "7"},
                                   {"replicate.window", "1"},
                                   {"replicate.degree", "5"},
                                   {"replicate.share", "1"},
                                   {"replicate.verify", "no"},
                                   {"replicate.map", "m"}}) {
    EXPECT_EQ(settings.set(name, text, from(Source::flag)).message(), "ok");
  }
  const sample::Options& options = settings.options();
  EXPECT_EQ(options.protocol, sample::Protocol::all_to_all);
  EXPECT_EQ(options.ack_delay_ns, 1'000'000'000);
  EXPECT_EQ(options.offset, 7);
  EXPECT_EQ(options.window, 1);
  EXPECT_EQ(options.degree, 5);
  EXPECT_EQ(options.share, 1.0);
  EXPECT_FALSE(options.verify);
  EXPECT_EQ(options.map, "m");
}

TEST(Settings, TheStrongerSourceWinsInAnyOrder) {
  const std::vector<Source> sources = {Source::file, Source::environment, Source::flag};
  for (const Source first : sources) {
    for (const Source second : sources) {
      SampleSettings settings(sample::table());
      ASSERT_TRUE(settings.set("replicate.window", "1", from(first)));
      ASSERT_TRUE(settings.set("replicate.window", "2", from(second)));
      EXPECT_EQ(settings.options().window, second >= first ? 2 : 1);
      EXPECT_EQ(settings.show()[3].origin.source, std::max(first, second));
    }
  }
}

TEST(Settings, ChecksEvenTextThatLoses) {
  SampleSettings settings(sample::table());
  ASSERT_TRUE(settings.set("replicate.window", "2", from(Source::flag)));
  EXPECT_FALSE(settings.set("replicate.window", "x", from(Source::file)));
}

TEST(Settings, AnErrorChangesNothing) {
  SampleSettings settings(sample::table());
  EXPECT_EQ(settings.set("replicate.window", "0", {Source::file, "x.toml line 3"}).message(),
            "reading x.toml line 3: '0' is out of bounds for replicate.window: give a value of 1 to 4096 packets");
  EXPECT_EQ(settings.set("replicate.protcol", "x", {Source::file, "x.toml line 3"}).message(),
            "reading x.toml line 3: unknown option 'replicate.protcol': did you mean 'replicate.protocol'?");
  EXPECT_EQ(settings.options().window, 64);
  EXPECT_EQ(settings.show()[3].origin.source, Source::row_default);
}

TEST(Settings, ShowValueAndOrigin) {
  SampleSettings settings(sample::table());
  ASSERT_TRUE(settings.set("replicate.ack_delay", "0.5 s", {Source::flag, "--replicate.ack-delay"}));
  const std::vector<AnySettings::Shown> shown = settings.show();
  ASSERT_EQ(shown.size(), sample::table().rows().size());
  EXPECT_EQ(shown[1].option->row.name, "replicate.ack_delay");
  EXPECT_EQ(shown[1].value, "500ms");
  EXPECT_EQ(origin_text(shown[1].origin), "--replicate.ack-delay");
}

TEST(Settings, ACopyIsItsOwn) {
  SampleSettings settings(sample::table());
  SampleSettings copy = settings;
  ASSERT_TRUE(copy.set("replicate.window", "9", from(Source::flag)));
  EXPECT_EQ(settings.options().window, 64);
  EXPECT_EQ(copy.show()[3].value, "9");
}

TEST(Settings, HandOnWhatIsNotTheDefault) {
  SampleSettings settings(sample::table());
  ASSERT_TRUE(settings.set("replicate.ack_delay", "20 ms", from(Source::flag)));
  EXPECT_THAT(settings.to_environment(),
              testing::ElementsAre(std::pair<std::string, std::string>("HOLDFAST_REPLICATE_ACK_DELAY", "20ms")));
}

}  // namespace
}  // namespace holdfast::config
