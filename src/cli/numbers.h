#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string_view>

#include "core/status/status.h"

/// Numbers and durations of the command line. Every numeric option has one of these: what CLI11 reads by itself wraps
/// "-1" to 2^64 - 1, and takes what the option cannot mean.
namespace holdfast::cli {

/// More threads or processes than any machine has cores.
inline constexpr std::uint64_t most_workers = 4096;
/// Ranks of a job: more than the largest machines run.
inline constexpr std::uint64_t most_ranks = 1'000'000;

/// A check for CLI11: digits alone, from `least` to `most`.
CLI::Validator whole_number(std::uint64_t least = 0, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// A check for CLI11: a finite decimal number from `least` to `most`.
CLI::Validator real_number(double least, double most);

/// The duration that was given for `flag`, from `least_ns` to `most_ns`. Error: bad_input.
Result<std::int64_t> read_duration(std::string_view flag, std::string_view text, std::int64_t least_ns,
                                   std::int64_t most_ns);

inline constexpr std::int64_t one_second_ns = 1'000'000'000;
inline constexpr std::int64_t one_day_ns = 86'400 * one_second_ns;
/// Longer than anything runs; sums with a clock's reading stay far from the end of 64 bits.
inline constexpr std::int64_t ten_years_ns = 3'650 * one_day_ns;

}  // namespace holdfast::cli
