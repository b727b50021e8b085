#include "simulate/job/matching.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace holdfast::simulate::job {
namespace {

constexpr auto nobody = std::optional<std::uint32_t>();

TEST(Matching, EarlierReceivesFirstWhateverTheyAskFor) {
  Matching matching;
  EXPECT_EQ(matching.post({1, Envelope::any_source, 5}, 10), nobody);
  EXPECT_EQ(matching.post({1, 3, 5}, 11), nobody);
  EXPECT_EQ(matching.post({1, 3, Envelope::any_tag}, 12), nobody);
  EXPECT_EQ(matching.arrive({1, 3, 5}, 0), 10u);
  EXPECT_EQ(matching.arrive({1, 3, 5}, 0), 11u);
  EXPECT_EQ(matching.arrive({1, 4, 5}, 1), nobody);
  EXPECT_EQ(matching.arrive({1, 3, 6}, 2), 12u);
}

TEST(Matching, MessagesOfOneSenderInTheirOrder) {
  Matching matching;
  EXPECT_EQ(matching.arrive({1, 3, 6}, 1), nobody);
  EXPECT_EQ(matching.arrive({1, 3, 5}, 2), nobody);
  EXPECT_EQ(matching.arrive({1, 3, 5}, 3), nobody);
  EXPECT_EQ(matching.probe({1, 3, 5}), 2u);
  EXPECT_EQ(matching.post({1, 3, 5}, 0), 2u);
  EXPECT_EQ(matching.post({1, Envelope::any_source, Envelope::any_tag}, 0), 1u);
  EXPECT_EQ(matching.post({2, 3, 5}, 0), nobody);  // another communicator
  EXPECT_EQ(matching.post({1, Envelope::any_source, Envelope::any_tag}, 0), 3u);
}

/// A list of all, searched from its beginning: what the standard says, at O(n).
struct Plain {
  struct Kept {
    Envelope of;
    std::uint32_t value;
  };
  std::vector<Kept> messages, receives;

  std::optional<std::uint32_t> arrive(const Envelope& message, std::uint32_t value) {
    for (std::size_t i = 0; i < receives.size(); ++i)
      if (receives[i].of.takes(message)) return remove(receives, i);
    messages.push_back({message, value});
    return std::nullopt;
  }
  std::optional<std::uint32_t> post(const Envelope& receive, std::uint32_t value) {
    for (std::size_t i = 0; i < messages.size(); ++i)
      if (receive.takes(messages[i].of)) return remove(messages, i);
    receives.push_back({receive, value});
    return std::nullopt;
  }
  static std::uint32_t remove(std::vector<Kept>& from, std::size_t at) {
    const std::uint32_t value = from[at].value;
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
    return value;
  }
};

TEST(Matching, AsAPlainList) {
  std::mt19937 random(7);
  Matching matching;
  Plain plain;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    Envelope envelope{below(2), below(3), below(3)};
    if (random() % 2 == 0) {
      ASSERT_EQ(matching.arrive(envelope, i), plain.arrive(envelope, i)) << i;
    } else {
      if (random() % 4 == 0) envelope.source = Envelope::any_source;
      if (random() % 4 == 0) envelope.tag = Envelope::any_tag;
      ASSERT_EQ(matching.post(envelope, i), plain.post(envelope, i)) << i;
    }
  }
  EXPECT_EQ(matching.waiting_messages().size(), plain.messages.size());
  EXPECT_EQ(matching.waiting_receives().size(), plain.receives.size());
}

}  // namespace
}  // namespace holdfast::simulate::job
