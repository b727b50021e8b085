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

}  // namespace holdfast::simulate
