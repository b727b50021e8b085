#include "core/integrity/crc32c_portable.h"

#include <array>

namespace holdfast::integrity {
namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // 0x1EDC6F41 reflected

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// tables[k][b] is the effect of byte b when k more bytes follow it.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ polynomial : crc >> 1;
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables tables = make_tables();

std::uint32_t at(const std::byte* bytes, std::size_t index) {
  return std::to_integer<std::uint32_t>(bytes[index]);
}

}  // namespace

std::uint32_t crc32c_portable(std::uint32_t crc, std::span<const std::byte> bytes) {
  std::uint32_t state = ~crc;
  const std::byte* next = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, next += 8) {
    state = tables[7][(state ^ at(next, 0)) & 0xFF] ^ tables[6][((state >> 8) ^ at(next, 1)) & 0xFF] ^
            tables[5][((state >> 16) ^ at(next, 2)) & 0xFF] ^ tables[4][(state >> 24) ^ at(next, 3)] ^
            tables[3][at(next, 4)] ^ tables[2][at(next, 5)] ^ tables[1][at(next, 6)] ^ tables[0][at(next, 7)];
  }
  for (; left > 0; --left, ++next) state = (state >> 8) ^ tables[0][(state ^ at(next, 0)) & 0xFF];
  return ~state;
}

}  // namespace holdfast::integrity
