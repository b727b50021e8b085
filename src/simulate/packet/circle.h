#pragma once

#include <cstdint>
#include <vector>

namespace holdfast::simulate {

/// A circle of waiting, or nothing: `waits_for[i]` is what i waits for, or 0xffffffff. Each waits for one other at
/// most, so walking on from any of them ends or closes a circle; the one that holds the lowest number is found, and
/// begins where the walk met it. O(size).
std::vector<std::uint32_t> find_circle(const std::vector<std::uint32_t>& waits_for);

}  // namespace holdfast::simulate
