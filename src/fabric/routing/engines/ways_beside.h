#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/routing/engines/lane_guard.h"
#include "fabric/routing/engines/mended_tables.h"
#include "fabric/routing/engines/up_down_tables.h"

namespace holdfast::fabric {

/// A LID that ways are looked for to.
struct WayEnd {
  Lid lid = 0;
  std::uint32_t row = none;  ///< its switch; none: nothing leads there any more
  bool adapter = false;
};

/// Ways beside a failed one: a switch that lost its way takes another such that whoever sends to it keeps the entry.
/// What is found is in the tables then.
class WaysBeside {
 public:
  /// `up_down` is for step_aside_by_levels() and turns_up() alone. `sources`: rows with adapters.
  WaysBeside(const SwitchGraph& graph, const Forwarding& tables, MendedTables& mended, LaneGuard& guard,
             const UpDownTables* up_down, const std::vector<std::uint32_t>& sources)
      : graph_(graph),
        tables_(tables),
        mended_(mended),
        guard_(guard),
        up_down_(up_down),
        sources_(sources),
        taken_(graph.rows()),
        taken_in_(graph.rows()) {}

  /// The nearest other way of a switch that turns no route from down to up; of several the one whose port has the
  /// fewest LIDs, and to whom the fewest others stepped for this LID. Who went up could not go down, and looks up
  /// first. False where there is none.
  bool step_aside_by_levels(std::uint32_t row, const WayEnd& end);

  /// The switches through which adapters send to this LID: before any of them steps aside in a lane.
  void find_senders(Lid lid);
  /// The nearest other way that closes no cycle in the lane, also not for those who send to this switch; of several the
  /// one whose port has the fewest LIDs. False where there is none.
  bool step_aside_in_lane(std::uint32_t row, const WayEnd& end, AcyclicDependencies& allowed);

  /// Whether on the whole way that begins with this arc a packet would turn from down to up. Further on it may, where
  /// nobody sent before.
  bool turns_up(std::uint32_t arc, const WayEnd& end) const;

 private:
  bool led_up(std::uint32_t row) const;
  const std::array<std::vector<std::uint32_t>, 2>& ways_of(std::uint32_t row);
  bool admit_for_senders(std::uint32_t row, std::uint32_t arc, const WayEnd& end, AcyclicDependencies& allowed);

  const SwitchGraph& graph_;
  const Forwarding& tables_;
  MendedTables& mended_;
  LaneGuard& guard_;
  const UpDownTables* up_down_;
  const std::vector<std::uint32_t>& sources_;
  std::vector<std::uint32_t> taken_;     // by row: how many stepped aside to it, where taken_in_ is this round
  std::vector<std::uint32_t> taken_in_;  // by row
  std::vector<std::array<std::vector<std::uint32_t>, 2>> ways_;  // by row
  std::vector<std::uint8_t> sends_;                              // by row: adapters send through it to the LID at hand
};

}  // namespace holdfast::fabric
