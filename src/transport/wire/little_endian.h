#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

/// Whole numbers in the byte order of the wire, least significant byte first, at any alignment.
namespace holdfast::transport::wire {

template <std::unsigned_integral Number>
Number load(const std::byte* from) {
  Number number = 0;
  std::memcpy(&number, from, sizeof number);
  if constexpr (std::endian::native != std::endian::little) {
    Number turned = 0;
    for (std::size_t i = 0; i < sizeof number; ++i)
      turned = static_cast<Number>((turned << 8) | ((number >> (8 * i)) & 0xFF));
    return turned;
  }
  return number;
}

template <std::unsigned_integral Number>
void store(std::byte* to, Number number) {
  if constexpr (std::endian::native != std::endian::little) {
    for (std::size_t i = 0; i < sizeof number; ++i) to[i] = static_cast<std::byte>((number >> (8 * i)) & 0xFF);
  } else {
    std::memcpy(to, &number, sizeof number);
  }
}

}  // namespace holdfast::transport::wire
