#include "simulate/predict/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/scratch/scratch_folder.h"

namespace holdfast::simulate::predict {
namespace {

using testing::HasSubstr;

Question question() {
  Question asked;
  asked.trace = HOLDFAST_SOURCE_DIR "/tests/cli/ring.trace";
  asked.fabric = "tree(4,2)";
  asked.engines = fabric::parse_contenders("dfsssp").value();
  return asked;
}

TEST(Predict, EachSeedIsARunWhereTheSeedMatters) {
  Question asked = question();
  asked.seeds = 7;
  EXPECT_EQ(make_prediction(asked).value()->points.size(), 1U);
  asked.placements = {"block", "random"};
  EXPECT_EQ(make_prediction(asked).value()->points.size(), 1U + 7U);
}

TEST(Predict, RefusesMoreRunsThanAStudyHasPoints) {
  Question asked = question();
  asked.placements = {"random"};
  asked.failures.assign(10, "fail-link share 1%");
  asked.seeds = 100'000;
  const auto study = make_prediction(asked);
  ASSERT_FALSE(study.ok());
  EXPECT_EQ(study.status().code(), Code::bad_input);
  EXPECT_THAT(study.status().message(), HasSubstr("more than 1,000,000 runs"));
}

TEST(Predict, TakesARecordingWhoseNameIsNoUtf8) {
  const scratch::ScratchFolder folder;
  Question asked = question();
  std::filesystem::copy(asked.trace, folder.file("ring\xE9"), std::filesystem::copy_options::recursive);
  asked.trace = folder.file("ring\xE9");
  const auto study = make_prediction(asked);
  ASSERT_TRUE(study.ok()) << study.status().message();
  EXPECT_THAT(study.value()->points[0].key, HasSubstr("ring\xEF\xBF\xBD"));
}

}  // namespace
}  // namespace holdfast::simulate::predict
