#include "fabric/topology/finite_field.h"

#include <gtest/gtest.h>

#include <set>

namespace holdfast::fabric {
namespace {

TEST(FiniteField, TheLawsOfAFieldHold) {
  for (std::uint32_t q : {2U, 3U, 4U, 5U, 7U, 8U, 9U, 11U, 13U, 16U, 25U, 27U}) {
    const auto field = FiniteField::make(q);
    ASSERT_TRUE(field) << q;
    for (std::uint32_t a = 0; a < q; ++a) {
      EXPECT_EQ(field->add(a, field->negate(a)), 0U);
      EXPECT_EQ(field->multiply(a, 1), a);
      std::set<std::uint32_t> multiples;
      for (std::uint32_t b = 0; b < q; ++b) {
        multiples.insert(field->multiply(a, b));
        EXPECT_EQ(field->multiply(a, b), field->multiply(b, a));
        for (std::uint32_t c = 0; c < q; ++c) {
          EXPECT_EQ(field->multiply(a, field->add(b, c)), field->add(field->multiply(a, b), field->multiply(a, c)));
        }
      }
      EXPECT_EQ(multiples.size(), a == 0 ? 1 : q) << "every element but 0 divides";
    }
  }
}

TEST(FiniteField, OnlyPowersOfPrimesHaveOne) {
  for (std::uint32_t q : {0U, 1U, 6U, 10U, 12U, 36U, 1025U}) EXPECT_FALSE(FiniteField::make(q)) << q;
}

}  // namespace
}  // namespace holdfast::fabric
