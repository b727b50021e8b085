#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "simulate/kernel/prefetch.h"
#include "simulate/packet/arbitration.h"

namespace holdfast::simulate {

/// Chooses which virtual lane of an output port sends next, by the arbitration tables (arbitration.h). 20 bytes a port.
class [[gnu::visibility("hidden")]] LaneArbiter {
 public:
  /// Of one port.
  struct State {
    std::uint32_t low_at = 0, high_at = 0;
    std::int32_t low_left = 0, high_left = 0;
    std::int32_t high_sent = 0;  ///< blocks since the last low-priority packet
  };

  LaneArbiter(const Arbitration& tables, std::size_t ports) : tables_(tables) {
    State begin;
    if (!tables.high.empty()) begin.high_left = tables.high.front().weight;
    if (!tables.low.empty()) begin.low_left = tables.low.front().weight;
    states_.assign(ports, begin);
  }

  /// The lane that sends now on this port, or -1. `may(lane)`: whether a packet waits there that could go now;
  /// `blocks(lane)`: how long it is, in blocks of 64 bytes. may() is asked in the order of the tables.
  template <class May, class Blocks>
  int choose(std::size_t port, const May& may, const Blocks& blocks) {
    State& state = states_[port];
    const std::int32_t limit = std::max(1, tables_.high_limit * 64);
    const bool limited = tables_.high_limit != Arbitration::no_limit && state.high_sent >= limit;
    const auto high_end = static_cast<std::uint32_t>(tables_.high.size());
    const auto low_end = static_cast<std::uint32_t>(tables_.low.size());
    const std::uint32_t high = find(tables_.high, state.high_at, state.high_left, may);
    if (high != high_end && !limited) {
      const int lane = use(tables_.high, high, state.high_at, state.high_left, blocks);
      state.high_sent += blocks(lane);
      return lane;
    }
    const std::uint32_t low = find(tables_.low, state.low_at, state.low_left, may);
    if (low != low_end) {
      state.high_sent = 0;
      return use(tables_.low, low, state.low_at, state.low_left, blocks);
    }
    return high == high_end ? -1 : use(tables_.high, high, state.high_at, state.high_left, blocks);
  }
  /// The lane that choose() would give now, without taking its turn; for prefetching, so it leaves limits aside.
  template <class May>
  int expected(std::size_t port, const May& may) const {
    const State& state = states_[port];
    const std::uint32_t high = find(tables_.high, state.high_at, state.high_left, may);
    if (high != tables_.high.size()) return tables_.high[high].lane;
    const std::uint32_t low = find(tables_.low, state.low_at, state.low_left, may);
    return low == tables_.low.size() ? -1 : tables_.low[low].lane;
  }
  /// For taking a choice back.
  const State& state(std::size_t port) const {
    return states_[port];
  }
  void restore(std::size_t port, const State& before) {
    states_[port] = before;
  }
  void prefetch(std::size_t port) const {
    prefetch_line(&states_[port]);
  }
  std::uint64_t bytes() const {
    return states_.capacity() * sizeof(State);
  }

 private:
  using Table = std::vector<Arbitration::Entry>;

  /// The entry that may send: the current one while it has weight left, otherwise the next with any. The table's size
  /// when none may.
  template <class May>
  [[gnu::always_inline]] static inline std::uint32_t find(const Table& table, std::uint32_t at, std::int32_t left,
                                                          const May& may) {
    const auto size = static_cast<std::uint32_t>(table.size());
    auto entry_may = [&](std::uint32_t entry) { return table[entry].weight > 0 && may(table[entry].lane); };
    if (size == 0) return size;
    if (left > 0 && entry_may(at)) return at;
    for (std::uint32_t entry = at + 1; entry < size; ++entry)
      if (entry_may(entry)) return entry;
    for (std::uint32_t entry = 0; entry <= at; ++entry)
      if (entry_may(entry)) return entry;
    return size;
  }
  template <class Blocks>
  static int use(const Table& table, std::uint32_t entry, std::uint32_t& at, std::int32_t& left, const Blocks& blocks) {
    if (entry != at || left <= 0) left = table[entry].weight;
    at = entry;
    left -= blocks(table[entry].lane);
    return table[entry].lane;
  }

  const Arbitration& tables_;
  std::vector<State> states_;
};

}  // namespace holdfast::simulate
