// Worlds by the hundred, and the proof that the oracle is not blind: with one mechanism of the engine left out, it must
// complain. tools/transport_campaign runs as many more as one likes.
#include "transport/world/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "transport/engine/planted.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace holdfast::transport {
namespace {

std::string complaints(const Verdict& verdict) {
  std::string text = draw_plan(verdict.seed).describe();
  for (const std::string& complaint : verdict.complaints) text += "  " + complaint + "\n";
  return text + "  again: transport_campaign --seed " + std::to_string(verdict.seed);
}

// Eight tests of fifty, so that they run side by side.
class Worlds : public testing::TestWithParam<int> {};

TEST_P(Worlds, KeepTheirPromises) {
  Counters counters;
  std::uint64_t delivered = 0;
  for (int i = 0; i < 50; ++i) {
    const Verdict verdict = run_world(static_cast<std::uint64_t>(GetParam()) * 50 + static_cast<std::uint64_t>(i) + 1);
    EXPECT_TRUE(verdict.good()) << complaints(verdict);
    counters += verdict.counters;
    delivered += verdict.delivered;
  }
  // A group in which nothing went wrong would prove nothing.
  EXPECT_GT(delivered, 500U);
  for (const Count must :
       {Count::fragments_retransmitted, Count::duplicates, Count::corrupt_fragments, Count::corrupt_headers,
        Count::rails_lost, Count::rails_regained, Count::unexpected_messages, Count::acks_piggybacked,
        Count::fragments_gathered, Count::stale_packets, Count::peers_restarted, Count::forged_packets,
        Count::replayed_packets, Count::identities_challenged}) {
    EXPECT_GT(counters[must], 0U) << counter_rows[static_cast<std::size_t>(must)].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Worlds, testing::Range(0, 8));

TEST(World, IsTheSameAgain) {
  const Verdict one = run_world(5);
  const Verdict two = run_world(5);
  EXPECT_EQ(one.events, two.events);
  EXPECT_EQ(one.packets, two.packets);
  EXPECT_TRUE(std::ranges::equal(one.counters.values(), two.counters.values()));
  EXPECT_NE(one.events, run_world(6).events);
}

#ifdef HOLDFAST_PLANTED_FAULTS
struct Defect {
  const char* name;
  Planted what;
};
void PrintTo(const Defect& defect, std::ostream* out) {  // NOLINT: GoogleTest's name
  *out << defect.name;
}

class PlantedFaults : public testing::TestWithParam<Defect> {};

TEST_P(PlantedFaults, AreSeen) {
#ifdef __SANITIZE_ADDRESS__
  const __lsan::ScopedDisabler defects_leak;
#endif
  std::uint64_t seed = 1;
  planted = GetParam().what;
  while (seed <= 60 && run_world(seed).good()) ++seed;
  planted = Planted::none;
  EXPECT_LE(seed, 60U) << "no world noticed";
}

INSTANTIATE_TEST_SUITE_P(Worlds, PlantedFaults,
                         testing::Values(Defect{"accept_duplicates", Planted::accept_duplicates},
                                         Defect{"ignore_checksums", Planted::ignore_checksums},
                                         Defect{"ignore_order", Planted::ignore_order},
                                         Defect{"acknowledge_too_much", Planted::acknowledge_too_much},
                                         Defect{"forget_retransmission", Planted::forget_retransmission},
                                         Defect{"lose_completion", Planted::lose_completion},
                                         Defect{"leak_buffer", Planted::leak_buffer},
                                         Defect{"ignore_tags", Planted::ignore_tags},
                                         Defect{"ignore_identities", Planted::ignore_identities},
                                         Defect{"forget_lost_peers", Planted::forget_lost_peers}),
                         [](const auto& instance) { return std::string(instance.param.name); });
#endif

}  // namespace
}  // namespace holdfast::transport
