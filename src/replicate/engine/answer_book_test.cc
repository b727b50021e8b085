#include "replicate/engine/answer_book.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/random/stream.h"

namespace holdfast::replicate {
namespace {

using Reply = AnswerBook::Reply;

AnswerBook told(AnswerWriter& leader) {
  AnswerBook book;
  EXPECT_TRUE(book.receive(leader.take()));
  return book;
}

TEST(AnswerBook, OneSubjectIsAnsweredInOrder) {
  AnswerWriter leader;
  for (const char* value : {"first", "second, which is longer than one decision, and than two of them", ""})
    leader.answer(3, 7, value);
  AnswerBook book = told(leader);
  std::string value;
  ASSERT_EQ(book.find(3, 7, value), Reply::ready);
  EXPECT_EQ(value, "first");
  ASSERT_EQ(book.find(3, 7, value), Reply::ready);
  EXPECT_EQ(value, "second, which is longer than one decision, and than two of them");
  ASSERT_EQ(book.find(3, 7, value), Reply::ready);
  EXPECT_EQ(value, "");
  EXPECT_EQ(book.find(3, 7, value), Reply::waiting);
}

TEST(AnswerBook, WhatOnlyTheLeaderAskedIsDropped) {
  AnswerWriter leader;
  leader.answer(1, 100, "collector");
  leader.answer(1, 7, "program");
  leader.answer(1, 100, "collector again");
  leader.answer(2, 7, "next");
  AnswerBook book = told(leader);
  std::string value;
  ASSERT_EQ(book.find(1, 7, value), Reply::ready);
  EXPECT_EQ(value, "program");
  ASSERT_EQ(book.find(2, 7, value), Reply::ready);
  EXPECT_EQ(value, "next");
  EXPECT_TRUE(book.empty());
}

TEST(AnswerBook, WhatOnlyTheFollowerAsksIsAbsentOnceTheLeaderHasGoneOn) {
  AnswerWriter leader;
  leader.answer(1, 7, "program");
  AnswerBook book = told(leader);
  std::string value;
  EXPECT_EQ(book.find(1, 100, value), Reply::waiting);
  leader.passed(2);
  EXPECT_TRUE(book.receive(leader.take()));
  EXPECT_EQ(book.find(1, 100, value), Reply::absent);
  ASSERT_EQ(book.find(1, 7, value), Reply::ready);
  EXPECT_EQ(book.find(2, 7, value), Reply::waiting);
}

TEST(AnswerBook, AnAnswerOfWhichAPartIsMissingIsWaitedFor) {
  AnswerWriter leader;
  leader.answer(1, 7, std::string(100, 'x'));
  const std::vector<Decision> all = leader.take();
  AnswerBook book;
  std::string value;
  for (const Decision& one : all) {
    EXPECT_EQ(book.find(1, 7, value), Reply::waiting);
    ASSERT_TRUE(book.receive(std::span(&one, 1)));
  }
  ASSERT_EQ(book.find(1, 7, value), Reply::ready);
  EXPECT_EQ(value, std::string(100, 'x'));
}

TEST(AnswerBook, NonsenseIsRefused) {
  const Decision part{Decision::Kind::more, 7, {1, 2, 3}};
  const Decision endless{Decision::Kind::answer, 7, {~std::uint64_t{0}, 0, 0}};
  const Decision flag{Decision::Kind::yes, 7, {}};
  EXPECT_FALSE(AnswerBook().receive(std::span(&part, 1)));
  EXPECT_FALSE(AnswerBook().receive(std::span(&endless, 1)));
  EXPECT_FALSE(AnswerBook().receive(std::span(&flag, 1)));
}

/// The program reads clock 1 between points, equally often in both; subject 2 is asked at random, by each side on its
/// own. Whatever the order of events, the program's readings are the leader's.
TEST(AnswerBook, RandomStrayQuestionsDisturbNothing) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    random::Stream draw(seed);
    AnswerWriter leader;
    AnswerBook book;
    std::map<std::uint64_t, std::vector<std::string>> said;
    std::uint64_t number = 0;
    for (std::uint64_t point = 1; point < 30; ++point) {
      const std::uint64_t readings = draw.below(4);
      for (std::uint64_t i = 0; i < readings; ++i) {
        for (std::uint64_t stray = draw.below(3); stray > 0; --stray)
          leader.answer(point, 2, "stray " + std::to_string(draw.below(1000)));
        said[point].push_back(std::to_string(number++) + std::string(draw.below(60), '.'));
        leader.answer(point, 1, said[point].back());
      }
    }
    leader.passed(30);
    const std::vector<Decision> wire = leader.take();
    std::size_t at = 0;
    const auto more_arrives = [&] {
      ASSERT_LT(at, wire.size()) << "seed " << seed << ": waited for what nobody says";
      const std::size_t n = std::min<std::size_t>(1 + draw.below(5), wire.size() - at);
      ASSERT_TRUE(book.receive(std::span(wire).subspan(at, n)));
      at += n;
    };
    std::string value;
    const auto asked = [&](std::uint64_t point, std::uint32_t subject) {
      Reply reply = book.find(point, subject, value);
      while (reply == Reply::waiting && !testing::Test::HasFatalFailure()) {
        more_arrives();
        reply = book.find(point, subject, value);
      }
      return reply;
    };
    for (std::uint64_t point = 1; point < 30; ++point) {
      for (const std::string& expected : said[point]) {
        for (std::uint64_t stray = draw.below(3); stray > 0; --stray) asked(point, 2);
        ASSERT_EQ(asked(point, 1), Reply::ready) << "seed " << seed;
        ASSERT_EQ(value, expected) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace holdfast::replicate
