#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Numbers of a recorded trace: LEB128, seven bits a byte, the lowest first (DWARF 5, 7.6).
namespace holdfast::record {

inline void put_number(std::string& to, std::uint64_t value) {
  while (value >= 0x80) {
    to.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  to.push_back(static_cast<char>(value));
}

/// Small numbers of either sign become small numbers without: 0, -1, 1, -2 are 0, 1, 2, 3.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

/// Takes numbers and texts off the front of bytes that may be anything. What is not there is none, and stays none.
class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes) : rest_(bytes) {}

  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    rest_ = {};
    return std::nullopt;
  }
  /// At most `most`.
  std::optional<std::uint64_t> number(std::uint64_t most) {
    const auto value = number();
    return value && *value <= most ? value : std::nullopt;
  }
  std::optional<std::string_view> text(std::uint64_t length) {
    if (length > rest_.size()) return std::nullopt;
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }
  /// A text behind its length.
  std::optional<std::string_view> text() {
    const auto length = number();
    return length ? text(*length) : std::nullopt;
  }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

}  // namespace holdfast::record
