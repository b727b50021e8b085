#include "plan/redmpi_tables.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

namespace holdfast::plan {
namespace {

const Plan& tables() {
  static const Plan plan = redmpi_tables(2);
  return plan;
}

// Model and simulation agree on every line, each within the interval that is printed, widened from 95 % to 99.99 %.
TEST(RedmpiTables, ModelAndSimulationAgree) {
  const Plan& plan = tables();
  ASSERT_EQ(plan.sections.size(), 2u);
  for (const Table& table : plan.sections[0].tables) {
    for (const auto& row : table.rows) {
      ASSERT_EQ(row.size(), table.columns.size());
      const double model = row[3].value, simulated = row[7].value;
      double mean = 0, half = 0;
      ASSERT_EQ(std::sscanf(row[7].text.c_str(), "%lf ± %lf", &mean, &half), 2) << row[7].text;
      EXPECT_NEAR(model, simulated, 2.0 * half / 100 + 5e-5) << row[0].text << " " << row[1].text;
      EXPECT_NEAR(row[3].value + row[4].value + row[5].value + row[6].value, 1, 1e-9);
    }
  }
}

// J. T. Daly's formulas by hand for the last line of Table 2: M = 26.28 min, interval 13.05 min.
TEST(RedmpiTables, LastLineOfTable2ByHand) {
  const double m = 43800.0 * 60 / 100000, tau = 13.0508, segment = tau + 5;
  const double share = tau / (m * std::exp(10 / m) * std::expm1(segment / m));
  EXPECT_NEAR(tables().sections[0].tables[0].rows[3][3].value, share, 1e-4);
}

// Section 7: from 7 nines to 3 with two million nodes and to 2 with three million.
TEST(RedmpiTables, RatingsAreThePapersWhenCutToWholeNines) {
  const Table& ratings = tables().sections[1].tables[1];
  ASSERT_EQ(ratings.rows.size(), 3u);
  for (const auto& row : ratings.rows) EXPECT_EQ(row[2].value, row[4].value) << row[0].text;
}

}  // namespace
}  // namespace holdfast::plan
