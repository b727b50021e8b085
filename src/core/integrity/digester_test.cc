#include "core/integrity/digester.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace holdfast::integrity {
namespace {

class DigesterTest : public testing::TestWithParam<Algorithm> {};

TEST_P(DigesterTest, DoesNotSeeWhereTheBytesWereCut) {
  std::mt19937_64 stream(11);
  std::vector<std::byte> bytes(20000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(stream());
  Digester digester(GetParam());
  for (int trial = 0; trial < 300; ++trial) {
    const std::span<const std::byte> all = std::span(bytes).first(stream() % (bytes.size() + 1));
    digester.init(GetParam());
    std::span<const std::byte> rest = all;
    while (!rest.empty()) {
      const std::size_t cut = stream() % (std::min<std::size_t>(rest.size(), 1ULL << (trial % 15)) + 1);
      digester.update(rest.first(cut));
      rest = rest.subspan(cut);
    }
    ASSERT_EQ(digester.finish(), digest(GetParam(), all)) << all.size() << " bytes, trial " << trial;
  }
}

TEST_P(DigesterTest, GoesOnAfterFinish) {
  const std::vector<std::byte> bytes(1000, std::byte{3});
  Digester digester(GetParam());
  EXPECT_EQ(digester.finish(), digest(GetParam(), {}));
  digester.update(std::span(bytes).first(600));
  EXPECT_EQ(digester.finish(), digest(GetParam(), std::span(bytes).first(600)));
  digester.update(std::span(bytes).subspan(600));
  EXPECT_EQ(digester.finish(), digest(GetParam(), bytes));
}

TEST_P(DigesterTest, ACopyGoesItsOwnWay) {
  const std::vector<std::byte> bytes(500, std::byte{5});
  Digester one(GetParam());
  one.update(std::span(bytes).first(300));
  Digester two = one;
  one.update(std::span(bytes).subspan(300));
  EXPECT_EQ(one.finish(), digest(GetParam(), bytes));
  EXPECT_EQ(two.finish(), digest(GetParam(), std::span(bytes).first(300)));
}

INSTANTIATE_TEST_SUITE_P(All, DigesterTest, testing::Values(Algorithm::xxh3_128, Algorithm::xxh3_64, Algorithm::crc32c),
                         [](const auto& instance) {
                           std::string plain(name(instance.param));
                           std::ranges::replace(plain, '-', '_');
                           return plain;
                         });

}  // namespace
}  // namespace holdfast::integrity
