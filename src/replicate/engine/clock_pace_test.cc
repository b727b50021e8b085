#include "replicate/engine/clock_pace.h"

#include <gtest/gtest.h>

#include "core/random/stream.h"

namespace holdfast::replicate {
namespace {

constexpr std::int64_t quick = 1'000;
constexpr std::int64_t slow = 5'000'000;

TEST(ClockPace, AFirstReadingLeavesAtOnce) {
  ClockPace pace;
  EXPECT_FALSE(pace.may_wait(0));
}

TEST(ClockPace, APollingLoopIsBatchedAfterAFewReadings) {
  ClockPace pace;
  std::int64_t now = 0;
  int waited = 0;
  for (int i = 0; i < 1000; ++i) waited += pace.may_wait(now += quick) ? 1 : 0;
  EXPECT_GT(waited, 900);
}

TEST(ClockPace, ReadingsAroundWorkLeaveAtOnceAndThoseBetweenWorkWait) {
  ClockPace pace;  // start, work, stop; at once the next start: a timer of every phase
  std::int64_t now = 0;
  int start_waited = 0;
  int stop_waited = 0;
  for (int i = 0; i < 1000; ++i) {
    start_waited += pace.may_wait(now += quick) ? 1 : 0;
    stop_waited += pace.may_wait(now += slow) ? 1 : 0;
  }
  EXPECT_EQ(start_waited, 0);
  EXPECT_GT(stop_waited, 900);
}

TEST(ClockPace, WrongGuessesBecomeRare) {
  ClockPace pace;  // work comes without any pattern, once in forty readings
  random::Stream draw(7);
  std::int64_t now = 0;
  int wrong = 0;
  int slow_ones = 0;
  for (int i = 0; i < 40'000; ++i) {
    const bool waits = pace.may_wait(now);
    const bool work = draw.chance(1, 40);
    slow_ones += work ? 1 : 0;
    wrong += waits && work ? 1 : 0;
    now += work ? slow : quick;
  }
  EXPECT_GT(wrong, 0) << "otherwise this shows nothing";
  EXPECT_LT(wrong * 10, slow_ones);
}

TEST(ClockPace, ACommunicationCallEndsTheGap) {
  ClockPace pace;
  std::int64_t now = 0;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(pace.may_wait(now)) << "a reading, long work, a call";
    EXPECT_TRUE(pace.open());
    pace.other_call(now += slow);
    EXPECT_FALSE(pace.open());
    pace.other_call(now += quick);
  }
}

}  // namespace
}  // namespace holdfast::replicate
