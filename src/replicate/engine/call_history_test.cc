#include "replicate/engine/call_history.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace holdfast::replicate {
namespace {

Call call(std::uint32_t number) {
  return {number, static_cast<std::int32_t>(number) - 1, 7, number * 3ULL, number * 8ULL};
}

TEST(CallHistory, CountsAndKeepsTheLastCalls) {
  CallHistory history;
  Call found;
  EXPECT_FALSE(history.find(0, found));
  for (std::uint32_t n = 0; n < 1000; ++n) history.note(call(n));
  EXPECT_EQ(history.count(), 1000u);
  for (std::uint64_t n = 0; n < 1100; ++n) {
    const bool kept = n >= 1000 - CallHistory::kept && n < 1000;
    ASSERT_EQ(history.find(n, found), kept) << n;
    if (kept) {
      EXPECT_EQ(found.function, n);
      EXPECT_EQ(found.bytes, n * 8);
    }
  }
  EXPECT_FALSE(history.find(~0ULL, found));
}

TEST(CallHistory, FindsCallsBeforeTheWindowIsFull) {
  CallHistory history;
  history.note(call(5));
  Call found;
  ASSERT_TRUE(history.find(0, found));
  EXPECT_EQ(found.function, 5u);
  EXPECT_FALSE(history.find(1, found));
}

TEST(CallHistory, EqualCallsGiveEqualHashes) {
  CallHistory a;
  CallHistory b;
  for (std::uint32_t n = 0; n < 500; ++n) {
    a.note(call(n));
    b.note(call(n));
    ASSERT_EQ(a.hash(), b.hash());
  }
}

TEST(CallHistory, RemembersTheHashOfFewerCalls) {
  CallHistory history;
  std::vector<std::uint64_t> after{history.hash()};
  for (std::uint32_t n = 0; n < 1000; ++n) {
    history.note(call(n));
    after.push_back(history.hash());
  }
  for (std::uint64_t calls = 0; calls <= 1001; ++calls) {
    const bool kept = calls >= 1000 - CallHistory::kept && calls <= 1000;
    ASSERT_EQ(history.hash_after(calls).has_value(), kept) << calls;
    if (kept) {
      EXPECT_EQ(*history.hash_after(calls), after[calls]);
    }
  }
}

std::uint64_t hash_of(const std::vector<Call>& calls) {
  CallHistory history;
  for (const Call& c : calls) history.note(c);
  return history.hash();
}

TEST(CallHistory, EveryFieldEveryBitAndTheOrderCount) {
  const Call plain{3, 1, 5, 9, 64};
  std::set<std::uint64_t> hashes{hash_of({plain, call(1)})};
  std::size_t variants = 1;
  const auto add = [&](const Call& changed) {
    hashes.insert(hash_of({changed, call(1)}));
    ++variants;
  };
  for (int bit = 0; bit < 64; ++bit) {
    Call changed = plain;
    if (bit < 32) {
      changed.function ^= 1u << bit;
      add(changed);
      changed = plain;
      changed.peer ^= static_cast<std::int32_t>(1u << bit);
      add(changed);
      changed = plain;
      changed.tag ^= static_cast<std::int32_t>(1u << bit);
      add(changed);
      changed = plain;
    }
    changed.communicator ^= 1ULL << bit;
    add(changed);
    changed = plain;
    changed.bytes ^= 1ULL << bit;
    add(changed);
  }
  EXPECT_EQ(hashes.size(), variants);
  EXPECT_NE(hash_of({plain, call(1)}), hash_of({call(1), plain}));
  EXPECT_NE(hash_of({plain}), hash_of({plain, plain}));
}

}  // namespace
}  // namespace holdfast::replicate
