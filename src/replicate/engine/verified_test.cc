#include "replicate/engine/verified.h"

#include <gmock/gmock.h>

#include <array>
#include <ostream>

#include "replicate/engine/empty_message_for_tests.h"

namespace holdfast::replicate {
namespace {

using Holds = Verified::Holds;

TEST(Verified, HasNoMessageAtFirst) {
  const EmptyMessage message;
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
void PrintTo(const Told& told, std::ostream* out) {  // NOLINT: GoogleTest's name
  constexpr std::array names{"nothing", "own", "own refused", "requeued", "requeued refused"};
  *out << names[static_cast<std::size_t>(told.before)] << (told.refused ? " is refused" : " is taken");
}

class MpisWord : public testing::TestWithParam<Told> {};

/// What MPI says of a message leaves it where it is from.
TEST_P(MpisWord, ChangesNoOrigin) {
  EmptyMessage message;
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
