#include "replicate/engine/verified.h"

#include <gmock/gmock.h>

namespace holdfast::replicate {
namespace {

using Holds = Verified::Holds;

/// A message without bytes.
class Message final : public Verified {
 public:
  std::uint64_t capacity() const override { return 0; }
  Ballot ballot(std::uint64_t) const override { return {}; }
  bool padded() const override { return false; }
  Ballot whole_ballot(std::uint64_t) const override { return {}; }
  Copy copy(std::uint64_t) const override { return nullptr; }
  int sender_rank() const override { return 0; }
  std::uint64_t received() const override { return 0; }
  bool torn_by(std::uint64_t) const override { return false; }
  Ballot ballot_of_copy(std::span<const std::byte>) const override { return {}; }
  bool overwrite(std::span<const std::byte>) override { return true; }
  void take_requeued(std::span<const std::byte>, std::int32_t, std::int32_t) override {}
  Copy give_up(std::int32_t&, std::int32_t&) override { return nullptr; }
};

TEST(Verified, HasNoMessageAtFirst) {
  const Message message;
  EXPECT_EQ(message.holds, Holds::nothing);
  EXPECT_FALSE(message.refused());
  EXPECT_FALSE(message.requeued());
  EXPECT_FALSE(message.wildcard);
}

struct Told {
  Holds before;
  bool refused;
  Holds after;
};

class MpisWord : public testing::TestWithParam<Told> {};

/// What MPI says of a message leaves it where it is from.
TEST_P(MpisWord, ChangesNoOrigin) {
  Message message;
  message.holds = GetParam().before;
  message.set_refused(GetParam().refused);
  EXPECT_EQ(message.holds, GetParam().after);
  EXPECT_EQ(message.refused(), GetParam().refused);
}

INSTANTIATE_TEST_SUITE_P(
    Messages, MpisWord,
    testing::Values(Told{Holds::nothing, false, Holds::own}, Told{Holds::nothing, true, Holds::own_refused},
                    Told{Holds::own, true, Holds::own_refused}, Told{Holds::own_refused, false, Holds::own},
                    Told{Holds::requeued, true, Holds::requeued_refused}, Told{Holds::requeued, false, Holds::requeued},
                    Told{Holds::requeued_refused, false, Holds::requeued}));

}  // namespace
}  // namespace holdfast::replicate
