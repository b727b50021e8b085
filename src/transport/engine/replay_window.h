#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace holdfast::transport {

/// Which numbers of packets have been seen, as RFC 4303, section 3.4.3, and RFC 6479 do: all before the last `width`
/// count as seen, so that a packet that was overtaken by more than that is lost, and goes again under another number.
/// Numbers start at 1.
class ReplayWindow {
 public:
  static constexpr std::uint64_t width = 4096 - 64;

  bool fresh(std::uint64_t number) const {
    if (number == 0 || (last_ >= width && number <= last_ - width)) return false;
    return number > last_ || (word(number) & bit(number)) == 0;
  }
  /// A packet of this number, which was fresh, is what it says.
  void note(std::uint64_t number) {
    if (number > last_) {
      const std::uint64_t before = last_ / 64;
      const std::uint64_t words = number / 64 - before < words_.size() ? number / 64 - before : words_.size();
      for (std::uint64_t i = 1; i <= words; ++i) words_[(before + i) % words_.size()] = 0;
      last_ = number;
    }
    words_[number / 64 % words_.size()] |= bit(number);
  }

 private:
  static std::uint64_t bit(std::uint64_t number) { return std::uint64_t{1} << (number % 64); }
  std::uint64_t word(std::uint64_t number) const { return words_[number / 64 % words_.size()]; }

  std::uint64_t last_ = 0;
  std::array<std::uint64_t, 64> words_{};
};

}  // namespace holdfast::transport
