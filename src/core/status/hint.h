#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast {

/// The candidate that was most likely meant by `name`: the one at the smallest edit distance (insertions, deletions,
/// substitutions and swaps of neighbours count 1; '-' and '_' are the same letter, and case is ignored), if that is at
/// most a third of the longer one's length, at least 1. Empty when there is none. The view is into `candidates`. Any
/// thread. Source: optimal string alignment, R. Lowrance and R. Wagner, "An Extension of the String-to-String
/// Correction Problem", JACM 22(2), 1975, restricted to non-overlapping swaps.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates);

/// "did you mean 'x'?" for the nearest candidate, or `otherwise` when none is near.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates,
                         std::string_view otherwise);

}  // namespace holdfast
