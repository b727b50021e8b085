#pragma once

#include <cstdint>
#include <vector>

#include "fabric/topology/fabric.h"

namespace holdfast::simulate {

/// The end points of a simulation, numbered from 0: every adapter port with a LID, in the order of the fabric's ports.
struct Hosts {
  explicit Hosts(const fabric::Fabric& fabric);

  std::vector<fabric::PortId> ports;
  std::vector<fabric::Lid> lids;
  std::uint32_t count() const { return static_cast<std::uint32_t>(ports.size()); }
};

/// The adapters of each computer, by number in Hosts, in the order of their names and ports; computers by their first
/// adapter. Adapters whose names differ by the device alone are one computer's ("node17 mlx5_0", "node17 mlx5_1";
/// fabric::host_of()). Where two adapters have the same whole name it tells nothing, and each is a computer of its own,
/// with its ports.
std::vector<std::vector<std::uint32_t>> computers_of(const fabric::Fabric& fabric);

}  // namespace holdfast::simulate
