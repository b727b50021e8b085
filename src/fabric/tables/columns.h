#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fabric/tables/forwarding.h"

namespace holdfast::fabric {

/// The entries of all switches for one LID, side by side. Tables have them as far apart as a switch has entries, so
/// that a walk along one LID touches a page of memory at each switch; here some LIDs are copied at once, a cache line
/// of each switch. One to a thread.
class Columns {
 public:
  explicit Columns(const Forwarding& tables) : tables_(tables), ports_(std::size_t{tables.rows()} * width) {}

  /// By row: Forwarding::out_port(). Good until the next call. Fast when LIDs come in order; where they jump, as in a
  /// file whose nodes are shuffled, one is copied at a time.
  const std::uint8_t* of(Lid lid) {
    if (lid < first_ || lid - first_ >= count_) {
      const Lid expected = first_ + count_;
      load(lid, count_ > 0 && lid >= expected && lid - expected < width / 4 ? width : 1);
    }
    return ports_.data() + std::size_t{lid - first_} * tables_.rows();
  }

 private:
  static constexpr Lid width = 64;

  void load(Lid first, Lid most) {
    first_ = first;
    count_ = std::min<Lid>(most, tables_.lids() - first);
    for (std::uint32_t row = 0; row < tables_.rows(); ++row) {
      const std::uint8_t* entries = tables_.table(row) + first;
      std::uint8_t* to = ports_.data() + row;
      for (Lid i = 0; i < count_; ++i) to[std::size_t{i} * tables_.rows()] = entries[i];
    }
  }

  const Forwarding& tables_;
  std::vector<std::uint8_t> ports_;  // by LID from first_ on, then by row
  Lid first_ = 0;
  Lid count_ = 0;
};

}  // namespace holdfast::fabric
