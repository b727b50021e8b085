#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// The switches of a fabric and the working cables between them, in the compact form that routing engines work on.
///
/// A channel is one direction of a cable. An arc is all parallel channels from one switch to another: channels of an
/// arc follow one another, arcs of a switch follow one another. Engines that must avoid deadlock reason about arcs:
/// what cannot wait in a circle when parallel channels are taken for one cannot when they are told apart, and any of
/// them may then carry any route, which is how parallel links are balanced for free.
class SwitchGraph {
 public:
  struct Channel {
    std::uint8_t port = 0;  ///< of the switch it leaves
    std::uint32_t arc = 0;
  };
  struct Arc {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t first_channel = 0;
    std::uint32_t channels = 0;
    std::uint32_t reverse = 0;  ///< the arc of the same cables the other way
  };
  /// A LID of an adapter with a working cable, and where it is.
  struct Terminal {
    Lid lid = 0;
    PortId adapter = none;
    std::uint32_t row = 0;
    std::uint8_t port = 0;
  };

  /// Rows are numbered as in Forwarding tables of the fabric. Cables of a switch to itself are left out.
  explicit SwitchGraph(const Fabric& fabric);

  std::uint32_t rows() const { return static_cast<std::uint32_t>(switches_.size()); }
  NodeId switch_at(std::uint32_t row) const { return switches_[row]; }
  const std::vector<Channel>& channels() const { return channels_; }
  const std::vector<Arc>& arcs() const { return arcs_; }
  const Arc& arc(std::uint32_t id) const { return arcs_[id]; }
  /// The port of an arc of one channel; 0 of one with several. A byte an arc, for who looks at nothing else of many.
  std::uint8_t only_port(std::uint32_t id) const { return only_ports_[id]; }
  /// The arcs that leave a switch: ids first_arc(row) to first_arc(row + 1) - 1, by the number of their lowest port.
  std::uint32_t first_arc(std::uint32_t row) const { return first_arc_[row]; }
  std::span<const Arc> arcs_of(std::uint32_t row) const {
    return {arcs_.data() + first_arc_[row], first_arc_[row + 1] - first_arc_[row]};
  }

  /// Sorted by row, then by port and LID.
  const std::vector<Terminal>& terminals() const { return terminals_; }
  std::span<const Terminal> terminals_at(std::uint32_t row) const {
    return {terminals_.data() + first_terminal_[row], first_terminal_[row + 1] - first_terminal_[row]};
  }
  /// How many adapter ports send from this switch.
  std::uint32_t sources_at(std::uint32_t row) const { return sources_[row]; }
  std::uint32_t source_count() const { return source_count_; }
  Lid switch_lid(std::uint32_t row) const { return switch_lids_[row]; }

  /// Hops from every switch to `row`, `none` where no cables lead; `distance` gets rows() entries.
  void distances_to(std::uint32_t row, std::vector<std::uint32_t>& distance) const;

  /// Tables of the fabric in which each switch has its own LID and those of its adapters, and nothing else. Threads
  /// (0: all of the machine) share large ones.
  Forwarding local_tables(const Fabric& fabric, unsigned threads) const;

 private:
  /// `latest_to`, by row: the arc that was added last of those that lead there.
  void add_arcs(const Fabric& fabric, const std::vector<std::uint32_t>& row_of, std::uint32_t row,
                std::vector<std::uint32_t>& latest_to);
  void add_terminals(const Fabric& fabric, std::uint32_t row);
  void pair_arcs();

  std::vector<NodeId> switches_;
  std::vector<Channel> channels_;
  std::vector<Arc> arcs_;
  std::vector<std::uint8_t> only_ports_;
  std::vector<std::uint32_t> first_arc_;
  std::vector<Terminal> terminals_;
  std::vector<std::uint32_t> first_terminal_;
  std::vector<std::uint32_t> sources_;
  std::vector<Lid> switch_lids_;
  std::uint32_t source_count_ = 0;
};

}  // namespace holdfast::fabric
