#pragma once

#include <cstdint>
#include <vector>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// The switches of a fabric with what is at the other end of each working port, in flat arrays: what a walk along
/// forwarding tables needs. Checks build it from the fabric itself and share nothing else with the routing engines.
///
/// A channel is a port of a switch seen as the way out: row * stride + port number. Not every number is one.
class Cabling {
 public:
  /// An adapter port that has LIDs and a working cable to a switch.
  struct Endpoint {
    PortId port = none;
    Lid lid = 0;             ///< its first one
    std::uint32_t lids = 1;  ///< 2^lmc
    std::uint32_t row = 0;   ///< the switch
    std::uint8_t out = 0;    ///< the switch's port
  };

  /// Rows are numbered as in Forwarding tables of the fabric.
  explicit Cabling(const Fabric& fabric);

  std::uint32_t rows() const { return rows_; }
  std::uint32_t stride() const { return stride_; }
  std::uint32_t channels() const { return rows_ * stride_; }
  std::uint32_t channel(std::uint32_t row, std::uint8_t port) const { return row * stride_ + port; }
  /// The switch that the channel leads to; `none` for an adapter, a dead or missing cable, or the management port.
  std::uint32_t next_row(std::uint32_t channel) const { return next_row_[channel]; }
  /// The port of that switch where the channel ends.
  std::uint8_t in_port(std::uint32_t channel) const { return in_port_[channel]; }
  /// Where the channel's port is in the fabric; `none` when the switch has no such port.
  PortId port(std::uint32_t channel) const { return port_[channel]; }
  /// True when the channel leads to this adapter port.
  bool delivers(std::uint32_t channel, PortId adapter) const { return adapter_[channel] == adapter; }

  /// Adapter ports with LIDs and a working cable, in the order of ids; those of one switch are found by row.
  const std::vector<Endpoint>& endpoints() const { return endpoints_; }
  const std::vector<std::uint32_t>& endpoints_at(std::uint32_t row) const { return at_row_[row]; }
  /// Adapter ports with LIDs whose cable is dead or leads to no switch.
  std::uint32_t unplugged() const { return unplugged_; }
  /// Which connected part of the switch network a row is in, numbered from 0.
  std::uint32_t part(std::uint32_t row) const { return part_[row]; }
  std::uint32_t parts() const { return parts_; }

 private:
  void add_endpoint(const Fabric& fabric, const std::vector<std::uint32_t>& row_of, PortId port);
  void find_parts();

  std::uint32_t rows_ = 0;
  std::uint32_t stride_ = 1;
  std::uint32_t unplugged_ = 0;
  std::uint32_t parts_ = 0;
  std::vector<std::uint32_t> next_row_;
  std::vector<std::uint8_t> in_port_;
  std::vector<PortId> port_;
  std::vector<PortId> adapter_;
  std::vector<Endpoint> endpoints_;
  std::vector<std::vector<std::uint32_t>> at_row_;
  std::vector<std::uint32_t> part_;
};

}  // namespace holdfast::fabric
