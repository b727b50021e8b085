#include "simulate/collective/operands.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "fabric/topology/generate.h"
#include "simulate/collective/sampling.h"

namespace holdfast::simulate::collective {
namespace {

std::uint64_t word_of(double number) {
  return std::bit_cast<std::uint64_t>(number);
}
std::uint64_t word_of(float low, float high) {
  return std::uint64_t{std::bit_cast<std::uint32_t>(high)} << 32 | std::bit_cast<std::uint32_t>(low);
}

TEST(Operands, AreCombinedAsTheNumbersThatTheyAre) {
  std::uint64_t total[] = {word_of(0.5), word_of(-2.0)};
  const std::uint64_t doubles[] = {word_of(0.25), word_of(-3.0)};
  combine_into(Combine::sum, Operand::double_precision, total, {doubles, 0});
  EXPECT_EQ(total[0], word_of(0.75));
  EXPECT_EQ(total[1], word_of(-5.0));
  combine_into(Combine::minimum, Operand::double_precision, total, {doubles, 0});
  EXPECT_EQ(total[0], word_of(0.25));
  EXPECT_EQ(total[1], word_of(-5.0));

  std::uint64_t pair[] = {word_of(1.5F, -1.0F)};
  const std::uint64_t floats[] = {word_of(0.25F, 4.0F)};
  combine_into(Combine::sum, Operand::single_precision, pair, {floats, 0});
  EXPECT_EQ(pair[0], word_of(1.75F, 3.0F));
  combine_into(Combine::maximum, Operand::single_precision, pair, {floats, 0});
  EXPECT_EQ(pair[0], word_of(1.75F, 4.0F));

  std::uint64_t integers[] = {~std::uint64_t{0}};
  const std::uint64_t one[] = {1};
  combine_into(Combine::sum, Operand::integer, integers, {one, 2});
  EXPECT_EQ(integers[0], 2U);
}

TEST(Operands, ASumIsRightWithinWhatItsOrderCanRound) {
  const std::uint64_t right[] = {word_of(1.0F, 2.0F)};
  const double tolerances[] = {1e-6, 1e-6};
  const std::uint64_t rounded[] = {word_of(1.0F + 5e-7F, 2.0F)};
  const std::uint64_t wrong[] = {word_of(1.0F, 2.0F + 1e-5F)};
  const std::uint64_t no_number[] = {word_of(std::nanf(""), 2.0F)};
  EXPECT_TRUE(is_right(Operand::single_precision, rounded, right, tolerances));
  EXPECT_FALSE(is_right(Operand::single_precision, wrong, right, tolerances));
  EXPECT_FALSE(is_right(Operand::single_precision, no_number, right, tolerances));
  EXPECT_FALSE(is_right(Operand::single_precision, rounded, right, {})) << "minima are the same bits in any order";
}

Sample of(const Scheme& scheme, Operand operand, Combine combine, ErrorSource source) {
  static const fabric::Fabric fabric = fabric::generate("xgft(3;4,4,2;1,4,2)").value();
  SamplePlan plan;
  plan.experiment.scheme = scheme;
  plan.experiment.operand = operand;
  plan.experiment.combine = combine;
  plan.errors = {.source = source, .mean_ps = 20 * ps_per_us};
  plan.collectives = 60;
  return sample(fabric, nullptr, plan).value();
}

/// One root, one result for all hosts, but another one when errors change the order of arrival somewhere. Several roots
/// add up in orders of their own: hosts of one collective get different bits.
TEST(Operands, RoundingShowsTheOrderOfArrival) {
  const Scheme one_root = {.protection = Protection::temporal};
  const Scheme four_roots = {.protection = Protection::spatial};
  for (const Operand operand : {Operand::single_precision, Operand::double_precision}) {
    const Sample calm = of(one_root, operand, Combine::sum, ErrorSource::none);
    EXPECT_EQ(calm.wrong, 0U);
    EXPECT_EQ(calm.split, 0U);
    EXPECT_EQ(calm.results, 1U) << "without errors the order is always the same";
    EXPECT_EQ(of(four_roots, operand, Combine::sum, ErrorSource::none).split, 0U);

    const Sample single = of(one_root, operand, Combine::sum, ErrorSource::link);
    EXPECT_EQ(single.wrong, 0U);
    EXPECT_EQ(single.split, 0U);
    EXPECT_GT(single.results, 1U);
    const Sample several = of(four_roots, operand, Combine::sum, ErrorSource::link);
    EXPECT_EQ(several.wrong, 0U);
    EXPECT_GT(several.split, 0U);
    EXPECT_GT(several.results, 1U);
    EXPECT_EQ(of(four_roots, operand, Combine::minimum, ErrorSource::link).results, 1U);
  }
  EXPECT_EQ(of(four_roots, Operand::integer, Combine::sum, ErrorSource::link).split, 0U);
}

}  // namespace
}  // namespace holdfast::simulate::collective
