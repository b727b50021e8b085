#include "fabric/faults/failure_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fabric/topology/generate.h"

namespace holdfast::fabric {
namespace {

constexpr std::int64_t day = 86'400;

FailureLog two_years() {
  FailureLog log;
  log.from_s = 0;
  log.to_s = 730 * day;
  log.parts = {100, 10, 0};
  return log;
}

TEST(FailureStatistics, TimesAndRatesOfALogThatCanBeCounted) {
  FailureLog log = two_years();
  for (int i = 0; i < 9; ++i)
    log.entries.push_back({Component::link, "l" + std::to_string(i), (10 + 70 * i) * day, {}});
  log.entries.push_back({Component::switch_, "s", 100 * day, 100 * day + 3'600});
  log.entries.push_back({Component::link, "l9", 365 * day, 366 * day});
  log.entries.push_back({Component::link, "l9", 367 * day, 367 * day + 7'200});
  const FailureStatistics statistics = summarise(log, 0.95, 1).value();
  const KindStatistics& links = statistics.kinds[0];
  EXPECT_EQ(links.failures, 11U);
  EXPECT_NEAR(links.share, 11.0 / 12, 1e-12);
  EXPECT_NEAR(links.between_s->value, 730 * day / 11.0, 1e-6);
  EXPECT_EQ(links.repairs, 2U);
  EXPECT_NEAR(links.repair_s->value, (day + 7'200) / 2.0, 1e-6);
  EXPECT_NEAR(*links.repair_median_s, (day + 7'200) / 2.0, 1e-6);
  // nine worked for 10, 80, ... 570 days, one for all but a day and two hours, ninety all the time
  const double days = 9 * 10 + 70 * 36 + 730 - 1 - 7'200.0 / day + 90 * 730;
  EXPECT_NEAR(links.years, days / 365.25, 1e-9);
  EXPECT_NEAR(links.a_year.value, 11 / links.years, 1e-12);
  // eleven events: F. Garwood's 5.491 and 19.682
  EXPECT_NEAR(links.a_year.interval->low * links.years, 5.491, 0.001);
  EXPECT_NEAR(links.a_year.interval->high * links.years, 19.682, 0.001);
  ASSERT_TRUE(links.lives);
  EXPECT_EQ(links.lives->failures, 11U);
  EXPECT_EQ(links.lives->lives, 102U) << "a hundred parts, and two lives more of the one that was repaired twice";
  const KindStatistics& switches = statistics.kinds[1];
  EXPECT_FALSE(switches.lives);
  EXPECT_THAT(switches.no_fit, testing::HasSubstr("fewer than two failures"));
  EXPECT_FALSE(switches.repair_s->interval) << "of one number";
  EXPECT_EQ(statistics.all.failures, 12U);
  EXPECT_EQ(statistics.all.parts, 110U);
  const Ageing ageing = statistics.ageing();
  EXPECT_NEAR(ageing.switch_rate, 1 - std::exp(-switches.a_year.value), 1e-12);
  EXPECT_EQ(ageing.adapter_rate, 0);
}

/// What Ageing draws is what is found again, for the three shapes of the paper (section II).
TEST(FailureStatistics, FindsWhatAgeingHasDrawn) {
  for (const double shape : {0.76, 0.95, 1.07}) {
    Fabric fabric = generate("tree(18,2) hosts=18").value();
    FailureLog log;
    Ageing ageing;
    ageing.years = 8;
    ageing.link_rate = 0.02;
    ageing.shape = shape;
    log.to_s = static_cast<std::int64_t>(8 * seconds_per_year);
    std::uint32_t links = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {  // twenty such networks beside one another
      Fabric one = fabric;
      const Failures failures = age(one, ageing, {.seed = seed, .critical_too = true}).value();
      for (const Failure& failure : failures.failed)
        log.entries.push_back({Component::link,
                               std::to_string(seed) + "/" + std::to_string(failure.id),
                               static_cast<std::int64_t>(failure.years * seconds_per_year),
                               {}});
    }
    for (const Link& link : fabric.links())
      if (fabric.is_switch(fabric.port(link.a).node) && fabric.is_switch(fabric.port(link.b).node)) ++links;
    log.parts[0] = 20 * links;
    const FailureStatistics statistics = summarise(log, 0.99, 1).value();
    ASSERT_TRUE(statistics.kinds[0].lives);
    const stats::Weibull& lives = *statistics.kinds[0].lives;
    EXPECT_GT(lives.failures, 500U);
    EXPECT_TRUE(lives.shape_interval.holds(shape)) << shape << ": " << lives.shape;
    EXPECT_TRUE(lives.by_horizon_interval.holds(0.02)) << lives.failed_by_horizon;
    EXPECT_LT(lives.shape_interval.high - lives.shape_interval.low, 0.3);
    EXPECT_GT(statistics.kinds[0].fit_p, 0.01);
    if (shape == 0.76) {
      EXPECT_LT(lives.constant_rate_p, 1e-6);
    }
    const auto record = failure_statistics_record(statistics);
    EXPECT_EQ(record["ageing"]["shape"], statistics.ageing().shape);
    EXPECT_EQ(record["link"]["weibull"]["shape"], lives.shape);
    EXPECT_THAT(failure_statistics_text(statistics), testing::HasSubstr("[ageing.NAME]"));
  }
}

TEST(FailureStatistics, SaysWhatItCannotDo) {
  EXPECT_EQ(summarise(two_years(), 0.95, 1).status().code(), Code::bad_input) << "nothing has failed";
  FailureLog log = two_years();
  log.entries.push_back({Component::link, "l", 0, {}});
  EXPECT_EQ(summarise(log, 1.5, 1).status().code(), Code::bad_input);
  EXPECT_TRUE(summarise(log, 0.95, 1).ok()) << "failed as the observation began";
}

}  // namespace
}  // namespace holdfast::fabric
