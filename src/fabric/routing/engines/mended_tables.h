#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/graph/switch_graph.h"
#include "fabric/tables/forwarding.h"

namespace holdfast::fabric {

/// Tables while they are mended in place: what was changed, which switches lost their way to the LID at hand, how long
/// the ways of the others are, and how many LIDs each channel is the way out for.
class MendedTables {
 public:
  MendedTables(const Fabric& fabric, const SwitchGraph& graph, Forwarding& tables);

  const Fabric& fabric() const { return fabric_; }
  const ArcTables& arcs() const { return arcs_; }

  void set_out_port(std::uint32_t row, Lid lid, std::uint8_t port);
  void set_service_level(std::uint32_t row, Lid lid, std::uint8_t level);
  /// Makes the tables what they were.
  void take_back();

  /// Whether a switch lost its way to the LID at hand and has no other yet, and the port that it had.
  bool broken(std::uint32_t row) const { return broken_[row] != 0; }
  void set_broken(std::uint32_t row, bool broken) { broken_[row] = broken ? 1 : 0; }
  std::uint8_t old_port(std::uint32_t row) const { return old_port_[row]; }
  void set_old_port(std::uint32_t row, std::uint8_t port) { old_port_[row] = port; }
  /// The arc of the old entry, if its cable works.
  std::uint32_t old_arc(std::uint32_t row) const { return arcs_.by_port(row, old_port_[row]); }
  /// The port at the other end of the cable, dead or not, that the old entry led into; `none` without one.
  PortId old_far_end(std::uint32_t row) const;
  /// Whether the switch at the end of the arc, whose way is whole, sends to its beginning.
  bool sends_to(const SwitchGraph::Arc& arc, Lid lid) const {
    return broken_[arc.to] == 0 && arcs_.next(arc.to, lid) == arc.reverse;
  }

  /// Lengths are noted for one LID: a new one begins a round.
  void begin_round() { ++round_; }
  std::uint32_t round() const { return round_; }
  void note(std::uint32_t row, std::uint32_t hops) {
    hops_[row] = hops;
    measured_[row] = round_;
  }
  /// What was noted last.
  std::uint32_t hops(std::uint32_t row) const { return hops_[row]; }
  /// Hops from this switch, if its way is whole; `none` otherwise. Each switch is looked at once in a round.
  std::uint32_t hops_from_here(std::uint32_t row, Lid lid) {
    return measured_[row] == round_ ? hops_[row] : measure(row, lid);
  }

  /// Gives a switch an entry along this arc: the old port, or the channel with the fewest LIDs.
  void enter(std::uint32_t row, Lid lid, std::uint32_t arc);

  /// How many LIDs a channel is the way out for, and of these how many that adapters send to through its switch:
  /// counted when a switch is first looked at.
  std::uint32_t lids_of(std::uint32_t channel);
  std::uint32_t busy_lids_of(std::uint32_t channel);
  /// Whether adapters send to this LID through this switch, as far as its neighbours' tables tell.
  bool busy(std::uint32_t row, Lid lid);
  /// Of an arc that with the fewest LIDs.
  std::uint32_t best_channel(std::uint32_t arc);

 private:
  struct Change {
    std::uint32_t row;
    Lid lid;
    std::uint8_t before;
    bool is_level;
  };

  std::uint32_t measure(std::uint32_t row, Lid lid);
  void count_lids(std::uint32_t row);
  void find_busy(std::uint32_t row);

  const Fabric& fabric_;
  const SwitchGraph& graph_;
  Forwarding& tables_;
  ArcTables arcs_;
  std::vector<Change> changes_;
  std::vector<std::uint8_t> old_port_;   // by row
  std::vector<std::uint8_t> broken_;     // by row
  std::vector<std::uint32_t> hops_;      // by row: valid where measured_ is this round
  std::vector<std::uint32_t> measured_;  // by row
  std::uint32_t round_ = 0;
  std::vector<std::uint32_t> way_;
  std::vector<std::uint32_t> lids_by_channel_;
  std::vector<std::uint32_t> busy_by_channel_;
  std::vector<std::vector<std::uint8_t>> busy_;  // by row, then by LID
  unsigned rows_with_busy_ = 0;
  std::vector<std::uint8_t> counted_;  // by row
};

}  // namespace holdfast::fabric
