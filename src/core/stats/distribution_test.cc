#include "core/stats/distribution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace holdfast::stats {
namespace {

// Printed tables: W. Beyer, "CRC Standard Mathematical Tables"; NIST/SEMATECH e-Handbook, 1.3.6.7.
TEST(Distribution, EqualsPrintedTables) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959964, 1e-6);
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.975, 10), 2.228, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.995, 30), 2.750, 5e-4);
  EXPECT_NEAR(student_t_quantile(0.95, 1e9), 1.644854, 1e-6);
}

// Closed forms: t with 1 degree of freedom is Cauchy, with 2 algebraic; Beta(a, 1) is x^a; Gamma(1) is exponential.
TEST(Distribution, EqualsClosedForms) {
  for (double p : {0.001, 0.2, 0.45, 0.9, 0.9999}) {
    EXPECT_NEAR(student_t_quantile(p, 1) / std::tan(std::numbers::pi * (p - 0.5)), 1, 1e-9);
    EXPECT_NEAR(student_t_quantile(p, 2), (2 * p - 1) / std::sqrt(2 * p * (1 - p)), 1e-9);
    EXPECT_NEAR(beta_quantile(p, 3, 1), std::cbrt(p), 1e-12);
    EXPECT_NEAR(gamma_quantile(p, 1, 7), -7 * std::log1p(-p), 1e-9);
  }
}

TEST(Distribution, OutsideItsDomainIsNoNumber) {
  EXPECT_TRUE(std::isnan(student_t_quantile(0.5, 0)));
  EXPECT_TRUE(std::isnan(student_t_quantile(1.5, 3)));
  EXPECT_TRUE(std::isnan(normal_quantile(-1)));
  EXPECT_TRUE(std::isnan(beta_quantile(0.5, -1, 1)));
  EXPECT_TRUE(std::isnan(gamma_quantile(0.5, 0, 1)));
}

}  // namespace
}  // namespace holdfast::stats
