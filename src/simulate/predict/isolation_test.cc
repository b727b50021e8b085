#include "simulate/predict/isolation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::simulate::predict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Isolation, LinksThatAreBadForGoodAreTakenOut) {
  EXPECT_EQ(with_links_isolated("slow-link 1/4 link s-0/1"), "fail-link link s-0/1");
  EXPECT_EQ(with_links_isolated("fail-link share 1%;  noisy-link 1/1000000 link \"a\" \"b\""),
            "fail-link share 1%; fail-link link \"a\" \"b\"");
  EXPECT_EQ(with_links_isolated("slow-link 1/4 link s-0/1; noisy-link 1/1000000 link s-0/1"), "fail-link link s-0/1");
  // What passes or comes later is no question of the cable at the start; and what is no fault at all.
  for (const char* other : {"none", "", "fail-link link s-0/1", "slow-link 1/4 link s-0/1 for 1ms",
                            "slow-link 1/4 link s-0/1 time 1ms", "slow-link", "x"})
    EXPECT_EQ(with_links_isolated(other), std::nullopt) << other;
}

Outlook outlook(const char* engine, const char* failures, double seconds, std::size_t measured = 3) {
  Outlook made;
  made.engine = engine;
  made.failures = failures;
  made.asked = 3;
  made.measured = measured;
  made.time_s.mean = seconds;
  return made;
}

constexpr const char *slow = "slow-link 1/4 link s-0/1", *gone = "fail-link  link \"s-0/1\"";

TEST(Isolation, TimesWithAndWithoutAreComparedEngineByEngine) {
  EXPECT_THAT(
      advise_isolation({outlook("one", "none", 10), outlook("one", slow, 14), outlook("two", slow, 30),
                        outlook("one", gone, 10), outlook("two", gone, 25), outlook("three", gone, 1)}),
      ElementsAre("Isolate the links of 'slow-link 1/4 link s-0/1': with them the job takes 1.300 times as long "
                  "as without (1.200 to 1.400)."));
  EXPECT_THAT(
      advise_isolation({outlook("one", slow, 9), outlook("one", gone, 10)}),
      ElementsAre(HasSubstr("Do not isolate the links of 'slow-link 1/4 link s-0/1': with them the job takes 0.900")));
  EXPECT_THAT(advise_isolation({outlook("one", slow, 10.01), outlook("one", gone, 10)}),
              ElementsAre(HasSubstr("makes no difference")));
}

TEST(Isolation, WhereTheJobEndsDecidesFirst) {
  EXPECT_THAT(advise_isolation({outlook("one", slow, 5, 1), outlook("one", gone, 10)}),
              ElementsAre("Isolate the links of 'slow-link 1/4 link s-0/1': with them the job ended in 1 of 3 runs, "
                          "without in 3 of 3."));
  EXPECT_THAT(advise_isolation({outlook("one", slow, 50), outlook("one", gone, 10, 2)}),
              ElementsAre(HasSubstr("Do not isolate")));
  EXPECT_THAT(advise_isolation({outlook("one", slow, 0, 0), outlook("one", gone, 0, 0)}),
              ElementsAre(HasSubstr("no run ended")));
}

TEST(Isolation, WhatWasNotAskedIsNamed) {
  EXPECT_THAT(advise_isolation({outlook("one", slow, 10), outlook("two", gone, 10)}),
              ElementsAre("Whether to isolate the links of 'slow-link 1/4 link s-0/1': --fail 'fail-link link s-0/1' "
                          "beside it would tell."));
  EXPECT_THAT(advise_isolation({outlook("one", "none", 10), outlook("one", gone, 10)}), IsEmpty());
}

}  // namespace
}  // namespace holdfast::simulate::predict
