#include "transport/engine/answer_rounds.h"

#include <gtest/gtest.h>

namespace holdfast::transport {
namespace {

constexpr std::int64_t tick = 10;

TEST(AnswerRounds, AnswersToWhatWasAskedBeforeTheLastAnswerCountOnce) {
  AnswerRounds rounds;
  EXPECT_FALSE(rounds.answer(1, 1, 0, 5)) << "not begun";
  rounds.start(3, 0);
  EXPECT_FALSE(rounds.answer(3, 6, 0, 5)) << "asked before the silence";
  EXPECT_TRUE(rounds.answer(4, 6, 0, 5));
  for (std::uint64_t number = 4; number <= 6; ++number) EXPECT_FALSE(rounds.answer(number, 6, 0, 1000));
  EXPECT_FALSE(rounds.over(tick));
  EXPECT_TRUE(rounds.answer(7, 7, 0, 1000));
  EXPECT_FALSE(rounds.over(tick));
  EXPECT_EQ(rounds.next_ns(tick), 1000) << "at once";
  EXPECT_TRUE(rounds.answer(8, 8, 0, 1001));
  EXPECT_TRUE(rounds.over(tick));
}

TEST(AnswerRounds, TheLastAnswerIsATickBehindTheFirst) {
  AnswerRounds rounds;
  rounds.start(0, 0);
  for (std::uint64_t number = 1; number <= 5; ++number) {
    EXPECT_TRUE(rounds.answer(number, number, 0, 100 + static_cast<std::int64_t>(number)));
  }
  EXPECT_FALSE(rounds.over(tick));
  EXPECT_EQ(rounds.next_ns(tick), 101 + tick);
  EXPECT_TRUE(rounds.answer(6, 6, 0, 101 + tick));
  EXPECT_TRUE(rounds.over(tick));
}

TEST(AnswerRounds, PacketsOnTheSilentRailPutOffTheEndButNotForGood) {
  AnswerRounds rounds;
  rounds.start(0, 7);
  std::uint64_t number = 0;
  const auto answer = [&](std::uint64_t arrived) {
    ++number;
    EXPECT_TRUE(rounds.answer(number, number, arrived, 100 * static_cast<std::int64_t>(number)));
    return rounds.over(tick);
  };
  EXPECT_FALSE(answer(7));
  EXPECT_FALSE(answer(7));
  EXPECT_FALSE(answer(8)) << "one came in";
  EXPECT_FALSE(answer(8));
  EXPECT_FALSE(answer(8));
  EXPECT_TRUE(answer(8));
  rounds.start(number, 8);
  EXPECT_FALSE(rounds.over(tick));
  for (unsigned n = 1; n < AnswerRounds::most; ++n) EXPECT_FALSE(answer(8 + n)) << n;
  EXPECT_TRUE(answer(100));
}

}  // namespace
}  // namespace holdfast::transport
