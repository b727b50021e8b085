#pragma once

#include <limits>

#include "core/arithmetic/checked.h"

namespace holdfast::arithmetic {

/// left + right, or the type's largest number where the sum is more; neither is negative. For totals of what a file
/// claims, of which nobody really has so much.
template <Integer T>
[[nodiscard]] constexpr T add_or_most(T left, T right) noexcept {
  return checked_add(left, right).value_or(std::numeric_limits<T>::max());
}

}  // namespace holdfast::arithmetic
