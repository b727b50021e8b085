#pragma once

#include <cstdint>
#include <limits>

/// The simulator: what an InfiniBand network does with traffic, at flit-true timing.
namespace holdfast::simulate {

/// A moment or a length of simulated time in picoseconds. Never floating point, never rounded without saying so. 2^63
/// ps are 106 days.
using Time = std::int64_t;

inline constexpr Time ps_per_ns = 1'000;
inline constexpr Time ps_per_us = 1'000'000;
inline constexpr Time ps_per_ms = 1'000'000'000;
inline constexpr Time ps_per_s = 1'000'000'000'000;

/// Later than everything: "not known yet" and "never".
inline constexpr Time never = std::numeric_limits<Time>::max();

/// Durations come from files: a sum that would overflow ends far beyond any run. Both are at least 0.
constexpr Time later_by(Time begin, Time duration) {
  return duration > never / 2 - begin ? never / 2 : begin + duration;
}

}  // namespace holdfast::simulate
