#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

/// A counter is one row: a name, a unit and what it counts. Records, summaries and documentation derive from the rows.
///
///   enum class Count { messages, bytes, mismatches, count };             // `count` stands last
///   constexpr event::CounterRows<Count> rows = {{{"messages", "messages", "Messages verified."}, ...}};
///   event::Counters<Count> counters;
///   ++counters[Count::messages];
namespace holdfast::event {

/// All views are literals.
struct CounterRow {
  std::string_view name;  ///< lower-case words joined by '_', as in records
  std::string_view unit;  ///< "messages", "bytes", "ns"
  std::string_view doc;   ///< one sentence
};

template <class Name>
inline constexpr std::size_t counters_of = static_cast<std::size_t>(Name::count);

/// One row a counter, in the order of the enumeration.
template <class Name>
using CounterRows = std::array<CounterRow, counters_of<Name>>;

/// The counters of one process: a plain array of uint64, so that a sum over processes is one reduction of values().
/// Trivially copyable, no allocation. Not thread-safe.
template <class Name>
class Counters {
 public:
  std::uint64_t& operator[](Name counter) { return values_[static_cast<std::size_t>(counter)]; }
  std::uint64_t operator[](Name counter) const { return values_[static_cast<std::size_t>(counter)]; }

  std::span<std::uint64_t, counters_of<Name>> values() { return values_; }
  std::span<const std::uint64_t, counters_of<Name>> values() const { return values_; }

  /// Adds another process's counters, one by one, modulo 2^64.
  Counters& operator+=(const Counters& other) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += other.values_[i];
    return *this;
  }

 private:
  std::array<std::uint64_t, counters_of<Name>> values_{};
};

}  // namespace holdfast::event
