#pragma once

#include <concepts>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace holdfast::arithmetic {

// Arithmetic on what another process, a file or a command line said: lengths, counts, offsets, times. Each function
// gives the exact result, or nothing when the type cannot hold it; nothing wraps or is undefined. The two
// operands of one function have one type, so that no conversion happens on the way in: bring them there with
// checked_narrow(). Any thread; no errors other than the missing result.

/// The types that are computed with here: every integer type but bool and the character types.
template <class T>
concept Integer =
    std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool> && !std::same_as<std::remove_cv_t<T>, char> &&
    !std::same_as<std::remove_cv_t<T>, wchar_t> && !std::same_as<std::remove_cv_t<T>, char8_t> &&
    !std::same_as<std::remove_cv_t<T>, char16_t> && !std::same_as<std::remove_cv_t<T>, char32_t>;

template <Integer T>
[[nodiscard]] constexpr std::optional<T> checked_add(T left, T right) noexcept {
  T sum{};
  if (__builtin_add_overflow(left, right, &sum)) return std::nullopt;
  return sum;
}

/// Of unsigned operands nothing when `right` is the larger.
template <Integer T>
[[nodiscard]] constexpr std::optional<T> checked_subtract(T left, T right) noexcept {
  T difference{};
  if (__builtin_sub_overflow(left, right, &difference)) return std::nullopt;
  return difference;
}

template <Integer T>
[[nodiscard]] constexpr std::optional<T> checked_multiply(T left, T right) noexcept {
  T product{};
  if (__builtin_mul_overflow(left, right, &product)) return std::nullopt;
  return product;
}

/// Nothing for a divisor of zero and for the smallest number divided by -1. Rounds towards zero.
template <Integer T>
[[nodiscard]] constexpr std::optional<T> checked_divide(T left, T right) noexcept {
  if (right == 0) return std::nullopt;
  if constexpr (std::is_signed_v<T>) {
    if (right == T{-1}) return checked_subtract(T{0}, left);
  }
  return static_cast<T>(left / right);
}

/// The least multiple of `unit` that is not less than `value`; both not negative. Nothing for a unit of zero or less.
template <Integer T>
[[nodiscard]] constexpr std::optional<T> checked_round_up(T value, T unit) noexcept {
  if (value < 0 || unit <= 0) return std::nullopt;
  const T rest = static_cast<T>(value % unit);
  if (rest == 0) return value;
  return checked_add(value, static_cast<T>(unit - rest));
}

/// Whether [offset, offset + length) lies in [0, whole): no sum is formed that could wrap. False for negative operands.
template <Integer T>
[[nodiscard]] constexpr bool range_fits(T offset, T length, T whole) noexcept {
  if (offset < 0 || length < 0 || offset > whole) return false;
  return length <= static_cast<T>(whole - offset);
}

/// The same number in another integer type: checked_narrow<std::uint32_t>(length).
template <Integer To, Integer From>
[[nodiscard]] constexpr std::optional<To> checked_narrow(From value) noexcept {
  if (!std::in_range<To>(value)) return std::nullopt;
  return static_cast<To>(value);
}

/// The integer that a floating-point number has before its point (4.9 is 4, -4.9 is -4). Nothing for NaN, infinities
/// and numbers beyond the type, whose conversion would be undefined.
template <Integer To, std::floating_point From>
[[nodiscard]] constexpr std::optional<To> checked_truncate(From value) noexcept {
  // One above the largest integer: a power of two, which the largest itself may not be in floating point.
  constexpr From end = From{2} * static_cast<From>(std::numeric_limits<To>::max() / 2 + 1);
  constexpr From least = std::numeric_limits<To>::is_signed ? -end : From{0};
  // `least` minus one is `least` again where the spacing is wider than one.
  if (!(value < end) || !(value >= least || value > least - 1)) return std::nullopt;
  return static_cast<To>(value);
}

/// The nearest integer, halves away from zero, as std::llround gives it. Nothing as in checked_truncate().
template <Integer To, std::floating_point From>
[[nodiscard]] constexpr std::optional<To> checked_round(From value) noexcept {
  const std::optional<To> whole = checked_truncate<To>(value);
  if (!whole) return std::nullopt;
  const From rest = value - static_cast<From>(*whole);
  if (rest >= From{0.5}) return checked_add(*whole, To{1});
  if (rest <= From{-0.5}) return checked_subtract(*whole, To{1});
  return whole;
}

/// left + right, of which the part behind the point is dropped; the largest integer where the sum is more than that.
/// For moments whose type has its largest value for "never": what is too far off to be written down never comes. Of NaN
/// and of a negative `right` the same.
template <Integer T, std::floating_point From>
[[nodiscard]] constexpr T add_or_never(T left, From right) noexcept {
  constexpr T never = std::numeric_limits<T>::max();
  const std::optional<T> whole = right >= 0 ? checked_truncate<T>(right) : std::nullopt;
  return whole ? checked_add(left, *whole).value_or(never) : never;
}

}  // namespace holdfast::arithmetic
