#include "simulate/collective/link_crc.h"

#include <array>

namespace holdfast::simulate::collective {
namespace {

/// Remainders of a byte followed by 0 to 7 zero bytes, for a reflected polynomial: "slicing by 8" (M. Kounavis,
/// F. Berry, IEEE Transactions on Computers 57(11), 2008).
template <class Word>
using Slices = std::array<std::array<Word, 256>, 8>;

template <class Word>
constexpr Slices<Word> make_slices(Word reflected_polynomial) {
  Slices<Word> slices{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    Word rest = static_cast<Word>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      rest = static_cast<Word>((rest >> 1) ^ ((rest & 1) != 0 ? reflected_polynomial : 0));
    }
    slices[0][byte] = rest;
  }
  for (std::size_t zeros = 1; zeros < 8; ++zeros) {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const Word before = slices[zeros - 1][byte];
      slices[zeros][byte] = static_cast<Word>((before >> 8) ^ slices[0][before & 0xFF]);
    }
  }
  return slices;
}

constexpr Slices<std::uint32_t> slices_32 = make_slices<std::uint32_t>(0xEDB88320);  // 0x04C11DB7, bits reversed
constexpr Slices<std::uint16_t> slices_16 = make_slices<std::uint16_t>(0xD008);      // 0x100B, bits reversed

template <class Word>
Word extend(const Slices<Word>& slices, Word crc, std::span<const std::byte> bytes) {
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t eight = 0;
    for (std::size_t i = 0; i < 8; ++i) eight |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
    eight ^= crc;
    Word next = 0;
    for (std::size_t i = 0; i < 8; ++i) next = static_cast<Word>(next ^ slices[7 - i][(eight >> (8 * i)) & 0xFF]);
    crc = next;
  }
  for (; at < bytes.size(); ++at) {
    crc = static_cast<Word>((crc >> 8) ^ slices[0][(crc ^ std::to_integer<std::uint32_t>(bytes[at])) & 0xFF]);
  }
  return crc;
}

}  // namespace

std::uint32_t invariant_crc(std::span<const std::byte> bytes) {
  constexpr std::size_t lane_byte = 0;       // of the local route header: virtual lane above, version below
  constexpr std::size_t reserved_byte = 12;  // the fifth of the base transport header
  std::array<std::byte, reserved_byte + 1> head{};
  for (std::size_t i = 0; i < head.size(); ++i) head[i] = bytes[i];
  head[lane_byte] |= std::byte{0xF0};
  head[reserved_byte] = std::byte{0xFF};
  const std::uint32_t crc = extend<std::uint32_t>(slices_32, 0xFFFFFFFF, head);
  return ~extend<std::uint32_t>(slices_32, crc, bytes.subspan(head.size()));
}

std::uint16_t variant_crc(std::span<const std::byte> bytes) {
  return static_cast<std::uint16_t>(~extend<std::uint16_t>(slices_16, 0xFFFF, bytes));
}

}  // namespace holdfast::simulate::collective
