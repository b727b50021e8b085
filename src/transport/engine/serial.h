#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Numbers modulo 2^32 that only ever grow (RFC 1982): comparisons are right as long as the two are less than 2^31
/// apart.
namespace holdfast::transport {

constexpr std::int32_t serial_distance(std::uint32_t from, std::uint32_t to) {
  return static_cast<std::int32_t>(to - from);
}
constexpr bool serial_less(std::uint32_t a, std::uint32_t b) {
  return serial_distance(a, b) > 0;
}

/// Values for a window of serial numbers [base, base + room): a ring that grows by doubling up to its limit, so that a
/// peer costs what is in flight and not what could be. Values outside what was touched are T{}.
template <class T>
class SerialRing {
 public:
  /// `limit`: a power of two.
  explicit SerialRing(std::uint32_t limit) : limit_(limit) {}

  std::uint32_t base() const { return base_; }
  std::uint32_t limit() const { return limit_; }
  bool covers(std::uint32_t number) const { return number - base_ < limit_; }

  /// The value of a number that covers() is true for.
  T& at(std::uint32_t number) {
    while (number - base_ >= slots_.size()) grow();
    return slots_[number & (slots_.size() - 1)];
  }
  /// The same without growing; T{} for what was never touched.
  T get(std::uint32_t number) const {
    return number - base_ < slots_.size() ? slots_[number & (slots_.size() - 1)] : T{};
  }

  /// Forgets the first number.
  void advance() {
    if (!slots_.empty()) slots_[base_ & (slots_.size() - 1)] = T{};
    ++base_;
  }
  /// Forgets all, and starts again at 0.
  void clear() {
    slots_.assign(slots_.size(), T{});
    base_ = 0;
  }

  std::size_t memory_bytes() const { return slots_.capacity() * sizeof(T); }

 private:
  void grow() {
    const std::size_t before = slots_.size();
    std::vector<T> larger(before == 0 ? 16 : 2 * before);
    for (std::size_t i = 0; i < before; ++i) {
      const std::uint32_t number = base_ + static_cast<std::uint32_t>(i);
      larger[number & (larger.size() - 1)] = slots_[number & (before - 1)];
    }
    slots_ = std::move(larger);
  }

  std::vector<T> slots_;
  std::uint32_t base_ = 0;
  std::uint32_t limit_;
};

/// A map from serial numbers to pointers with linear probing: no allocation but when it doubles. A null pointer is not
/// kept. At most half full.
template <class T>
class SerialMap {
 public:
  T* find(std::uint32_t number) const {
    if (used_ == 0) return nullptr;
    for (std::size_t at = place(number);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].value == nullptr) return nullptr;
      if (slots_[at].number == number) return slots_[at].value;
    }
  }

  void insert(std::uint32_t number, T* value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    put(number, value);
    ++used_;
  }

  void erase(std::uint32_t number) {
    if (used_ == 0) return;
    std::size_t at = place(number);
    while (slots_[at].value != nullptr && slots_[at].number != number) at = (at + 1) & (slots_.size() - 1);
    if (slots_[at].value == nullptr) return;
    slots_[at].value = nullptr;
    --used_;
    // Those behind it may have been pushed on by it (D. Knuth, TAOCP volume 3, section 6.4, algorithm R).
    for (std::size_t next = (at + 1) & (slots_.size() - 1); slots_[next].value != nullptr;
         next = (next + 1) & (slots_.size() - 1)) {
      const Slot moved = slots_[next];
      slots_[next].value = nullptr;
      put(moved.number, moved.value);
    }
  }

  std::size_t size() const { return used_; }
  std::size_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }
  void clear() {
    slots_.assign(slots_.size(), Slot{});
    used_ = 0;
  }

 private:
  struct Slot {
    T* value = nullptr;
    std::uint32_t number = 0;
  };

  std::size_t place(std::uint32_t number) const { return number & (slots_.size() - 1); }
  void put(std::uint32_t number, T* value) {
    std::size_t at = place(number);
    while (slots_[at].value != nullptr) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {value, number};
  }
  void grow() {
    std::vector<Slot> before(slots_.empty() ? 16 : 2 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.value != nullptr) put(slot.number, slot.value);
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace holdfast::transport
