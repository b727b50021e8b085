#include "simulate/packet/crossing.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/random/stream.h"

namespace holdfast::simulate {
namespace {

Time part(Time flit_ps, std::uint32_t bytes) {
  return (flit_ps * bytes + 63) / 64;
}

/// The closed forms against the recurrence that they unroll, flit by flit, for every size of packet and random paces.
TEST(Crossing, EqualsItsRecurrence) {
  random::Stream draw(2);
  for (std::uint32_t bytes = 27; bytes <= 4122; ++bytes) {
    const Pace in{static_cast<Time>(1'000 + draw.below(255'000))};
    const Pace link{static_cast<Time>(1'000 + draw.below(255'000))};
    const Pace crossbar{static_cast<Time>(500 + draw.below(static_cast<std::uint64_t>(in.flit_ps) - 499))};
    const Time ready = static_cast<Time>(draw.below(1'000'000));
    const std::uint32_t flits = flits_of(bytes);
    const Time now = ready + in.of(std::min(bytes, 64U)) + static_cast<Time>(draw.below(3) * draw.below(9'000'000));
    const Time link_free = static_cast<Time>(draw.below(9'000'000));
    std::vector<Time> crossed;
    Time begins = now;
    Time start = link_free;
    for (std::uint32_t k = 0; k < flits; ++k) {
      const std::uint32_t size = k + 1 < flits ? 64 : bytes - 64 * k;
      if (k > 0) begins = std::max(begins + crossbar.flit_ps, ready + part(in.flit_ps, 64 * k + size));
      crossed.push_back(begins + part(crossbar.flit_ps, size));
      start = std::max(start, crossed.back() - Time{k} * link.flit_ps);
    }
    const Crossing got = cross(now, bytes, ready, in, crossbar, link, link_free);
    ASSERT_EQ(got.crossed, crossed.back()) << bytes;
    ASSERT_EQ(got.start, start) << bytes;
    const Drain drain = Drain::from_switch(got, now, ready, bytes, bytes % 2048);
    ASSERT_EQ(drain.flits(), flits);
    ASSERT_EQ(drain.pace(), bytes % 2048);
    ASSERT_EQ(drain.last(), crossed.back());
    for (std::uint32_t k = 0; k + 1 < flits; ++k) ASSERT_EQ(drain.block_from_switch(k, in, crossbar), crossed[k]);
  }
}

TEST(Crossing, ADrainHoldsDaysOfWaitingAndOfPauses) {
  const Time day = 86'400 * ps_per_s;
  for (const Pace in : {Pace{256'000}, Pace{slowest_flit_ps}}) {
    const Drain late =
        Drain::from_switch(cross(day, 65 * 64, 5, in, Pace{1'000}, Pace{1'000}, 0), day, 5, 65 * 64, 2047);
    EXPECT_EQ(late.last(), day + 65'000);
    EXPECT_EQ(late.block_from_switch(63, in, Pace{1'000}), day + 64'000);
    EXPECT_EQ(late.pace(), 2047U);
    // what comes over the slowest cable, too
    const Drain early =
        Drain::from_switch(cross(day, 65 * 64, day - 7, in, Pace{1'000}, Pace{1'000}, 0), day, day - 7, 65 * 64);
    EXPECT_EQ(early.last(), day - 7 + 65 * in.flit_ps + 1'000);
    EXPECT_EQ(early.block_from_switch(63, in, Pace{1'000}), day - 7 + 64 * in.flit_ps + 1'000);
  }
  const Drain slow = Drain::to_memory(7, 7 + 3'600 * ps_per_s, 33);
  EXPECT_EQ(slow.last(), 7 + 3'600 * ps_per_s);
  EXPECT_EQ(slow.begun_to_memory(), 7);
  EXPECT_EQ(slow.flits(), 33U);
}

}  // namespace
}  // namespace holdfast::simulate
