#include "replicate/engine/delivered_messages.h"

#include <gtest/gtest.h>

namespace holdfast::replicate {
namespace {

MessageId named(std::uint64_t ordinal) {
  return {{1, 2, 3}, ordinal};
}

TEST(DeliveredMessages, FindsTheLastSixtyFourByTheirNames) {
  DeliveredMessages messages;
  std::byte memory[100];
  for (std::uint64_t n = 0; n < 100; ++n) messages.note(named(n), {{n, n}, n}, &memory[n]);
  for (std::uint64_t n = 0; n < 100; ++n) {
    const auto* found = messages.find(named(n));
    ASSERT_EQ(found != nullptr, n >= 36) << n;
    if (!found) continue;
    EXPECT_EQ(found->memory, &memory[n]);
    EXPECT_EQ(found->ballot.bytes, n);
  }
  EXPECT_EQ(messages.find({{1, 2, 4}, 99}), nullptr);
}

TEST(DeliveredMessages, HasNothingAtFirst) {
  EXPECT_EQ(DeliveredMessages().find({}), nullptr);
}

}  // namespace
}  // namespace holdfast::replicate
