#include "replicate/engine/injector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::replicate {
namespace {

using testing::HasSubstr;

TEST(Injector, StrikesWhereAndWhenItIsTold) {
  Injector injector = Injector::read("rank 1 replica 0 peer 2 message 3 bit 7; rank 0 message 1", 1, {1, 0}).value();
  EXPECT_TRUE(Injector().none());
  EXPECT_FALSE(injector.none());
  EXPECT_TRUE(injector.message(2, 64).empty());
  EXPECT_TRUE(injector.message(2, 64).empty());
  const auto struck = injector.message(2, 64);
  ASSERT_EQ(struck.size(), 1u);
  EXPECT_EQ(struck[0].fault, 0u);
  EXPECT_EQ(struck[0].bit, 7u);
  EXPECT_TRUE(injector.message(2, 64).empty());
}

TEST(Injector, CountsControlMessagesByThemselves) {
  Injector injector = Injector::read("message 2 bit 1; corrupt-header message 1 bit 600", 1, {0, 0}).value();
  EXPECT_TRUE(injector.message(0, 8).empty());
  const auto control = injector.control(0, 512);
  ASSERT_EQ(control.size(), 1u);
  EXPECT_EQ(control[0].fault, 1u);
  EXPECT_EQ(control[0].bit, 600u % 512);
  EXPECT_EQ(injector.message(0, 8).size(), 1u);
  EXPECT_TRUE(injector.control(0, 512).empty());
}

TEST(Injector, AMessageWithoutBytesCountsAndIsSpared) {
  Injector injector = Injector::read("message 1; message 2", 1, {0, 0}).value();
  EXPECT_TRUE(injector.message(0, 0).empty());
  EXPECT_EQ(injector.message(0, 8).size(), 1u);
}

TEST(Injector, DrawsOfMessagesDoNotDependOnControlMessages) {
  Injector alone = Injector::read("rate 1/3", 5, {0, 1}).value();
  Injector both = Injector::read("rate 1/3; corrupt-header rate 1/2", 5, {0, 1}).value();
  for (int n = 0; n < 200; ++n) {
    (void)both.control(0, 512);
    const auto a = alone.message(0, 4096);
    const auto b = both.message(0, 4096);
    ASSERT_EQ(a.size(), b.size());
    if (!a.empty()) {
      EXPECT_EQ(a[0].bit, b[0].bit);
    }
  }
}

TEST(Injector, RefusesWhatItCannotDo) {
  EXPECT_THAT(Injector::read("drop rate 1/3", 1, {0, 0}).status().message(), HasSubstr("cannot be injected here"));
  EXPECT_THAT(Injector::read("flip time 3s", 1, {0, 0}).status().message(), HasSubstr("at a message or at a rate"));
  EXPECT_FALSE(Injector::read("flup", 1, {0, 0}).ok());
}

}  // namespace
}  // namespace holdfast::replicate
