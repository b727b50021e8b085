#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/status/status.h"
#include "fabric/tables/entries.h"
#include "fabric/topology/fabric.h"
#include "fabric/topology/renumbering.h"

namespace holdfast::fabric {

/// Virtual lanes by service level for one pair of ports of a switch.
using LaneMap = std::array<std::uint8_t, 16>;

/// What a subnet manager writes into the switches and answers to path queries: linear forwarding tables, the service
/// level of every path, and the SL to VL tables. InfiniBand Architecture Specification 1.3: 14.2.5.10 (linear
/// forwarding table), 7.6.6 (SL to VL mapping), 15.2.5.16 (path record).
///
/// One byte a switch and LID: 50,000 hosts on 3,000 switches are 160 MB. Const access from any number of threads.
class Forwarding {
 public:
  static constexpr std::uint8_t no_port = 255;  ///< the table has no entry: packets for this LID are dropped
  static constexpr std::uint8_t no_path = 255;  ///< the path record query has no answer

  Forwarding() = default;
  /// Empty tables for LIDs 0 to fabric.top_lid(), every service level 0, lane = service level. The fabric's nodes and
  /// LIDs must stay as they are; its links may go down and up. Threads (0: all of the machine) share large ones.
  explicit Forwarding(const Fabric& fabric, unsigned threads = 1);

  /// Whether tables of a fabric fit into memory, with as many bytes for service levels. Error (bad_input) with what is
  /// being done and a remedy.
  static Status check_size(const Fabric& fabric, std::string_view doing, std::string_view remedy);

  /// Switches in the order of node ids: row_of(node) is the index of a switch's table; `none` for an adapter.
  std::uint32_t row_of(NodeId node) const { return rows_[node]; }
  NodeId switch_at(std::uint32_t row) const { return switches_[row]; }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(switches_.size()); }
  Lid lids() const { return lids_; }  ///< one more than the largest LID

  /// The port a switch sends packets for this LID out of: 0 is the switch itself, no_port means dropped.
  std::uint8_t out_port(std::uint32_t row, Lid destination) const { return ports_[index(row, destination)]; }
  void set_out_port(std::uint32_t row, Lid destination, std::uint8_t port) {
    if (!up_down_levels_.empty()) up_down_levels_.clear();
    ports_[index(row, destination)] = port;
  }
  /// The whole table of one switch, lids() bytes.
  std::uint8_t* table(std::uint32_t row) {
    if (!up_down_levels_.empty()) up_down_levels_.clear();
    return ports_.data() + index(row, 0);
  }
  const std::uint8_t* table(std::uint32_t row) const { return ports_.data() + index(row, 0); }

  /// The service level for packets that enter the network at this switch with this destination; no_path without one.
  /// Every host of a switch has the same, but where distinguish_sources() gave each adapter LID its own.
  std::uint8_t service_level(std::uint32_t source_row, Lid source, Lid destination) const {
    if (levels_.empty()) return 0;
    const std::uint32_t row = by_source_ ? source : source_row;
    return levels_[static_cast<std::size_t>(row) * lids_ + destination];
  }
  void set_service_level(std::uint32_t source_row, Lid source, Lid destination, std::uint8_t level);
  /// Makes room for levels, all 0, on this many threads (0: all of the machine): threads may then set those of
  /// different destinations or sources at once.
  void make_service_levels(unsigned threads = 1);
  /// From now on levels are kept for each source LID apart: lids() squared bytes.
  void distinguish_sources();
  bool distinguishes_sources() const { return by_source_; }

  /// The virtual lane of a packet with this service level from port `in` (0: made in the switch) to port `out`.
  std::uint8_t lane(std::uint32_t row, std::uint8_t in, std::uint8_t out, std::uint8_t level) const {
    if (lane_maps_.empty()) return level;
    return lane_maps_[lane_first_[row] + static_cast<std::size_t>(in) * lane_ports_[row] + out][level];
  }
  void set_lane_map(std::uint32_t row, std::uint8_t in, std::uint8_t out, const LaneMap& map);
  /// False while every lane is its service level.
  bool has_lane_maps() const { return !lane_maps_.empty(); }

  /// Of tables of renumber(fabric, numbers): the same routes as tables of `fabric`. Threads: 0 is all of the machine.
  Forwarding numbered_as(const Fabric& fabric, const Renumbering& numbers, unsigned threads) &&;

  /// Levels of the switches, by row, such that no route between adapters turns from down to up, as whoever made the
  /// tables knows. Empty: not known. Any change of an entry forgets them.
  const std::vector<std::uint32_t>& up_down_levels() const { return up_down_levels_; }
  void know_up_down(std::vector<std::uint32_t> level_by_row) { up_down_levels_ = std::move(level_by_row); }

  /// One more than the largest virtual lane that a path between two adapters may use.
  std::uint8_t lanes_used = 1;
  /// How many an engine would need without spreading routes over all lanes for throughput; 0: as many as it uses.
  std::uint8_t lanes_needed = 0;

 private:
  std::size_t index(std::uint32_t row, Lid destination) const {
    return static_cast<std::size_t>(row) * lids_ + destination;
  }
  void make_lane_maps();

  Lid lids_ = 0;
  std::vector<std::uint32_t> rows_;        // by node
  std::vector<NodeId> switches_;           // by row
  Entries ports_;                          // rows x lids
  Entries levels_;                         // rows (or lids) x lids; empty: all 0
  std::vector<LaneMap> lane_maps_;         // empty: identity
  std::vector<std::size_t> lane_first_;    // by row
  std::vector<std::uint32_t> lane_ports_;  // by row: port_count + 1
  std::vector<std::uint32_t> up_down_levels_;
  bool by_source_ = false;
};

}  // namespace holdfast::fabric
