#include "core/status/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace holdfast {
namespace {

TEST(Status, MessageIsOneLineOfWhatWrongRemedy) {
  EXPECT_EQ(Status().message(), "ok");
  EXPECT_EQ(Status(Code::io, "reading a", "no such file").message(), "reading a: no such file");
  const Status status(Code::bad_input, "reading a", "no key", "add one");
  EXPECT_EQ(status.message(), "reading a: no key: add one");
  EXPECT_FALSE(status);
  EXPECT_EQ(status.code(), Code::bad_input);
}

TEST(Result, HoldsEitherAValueOrAStatus) {
  Result<std::unique_ptr<int>> good = std::make_unique<int>(3);
  ASSERT_TRUE(good);
  EXPECT_TRUE(good.status().ok());
  const std::unique_ptr<int> taken = std::move(good).value();
  EXPECT_EQ(*taken, 3);
  const Result<int> bad = Status(Code::corrupt, "voting", "no majority");
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.status().code(), Code::corrupt);
}

}  // namespace
}  // namespace holdfast
