#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/packet/parameters.h"

namespace holdfast::simulate::job {

/// What a host sent to another through the network; hosts by number in Hosts (packet/hosts.h).
struct Flow {
  std::uint32_t from = 0, to = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Flow&) const = default;
};

/// What left by a port.
struct LinkLoad {
  fabric::PortId port = fabric::none;
  std::uint64_t bytes = 0;
};

/// The ports through which these flows go by the tables, adapters' own included, the fullest first, ties by id. A flow
/// that the tables lose counts up to where it is lost. Packets' own headers are not counted.
std::vector<LinkLoad> link_loads(const fabric::Fabric& fabric, const fabric::Forwarding& tables,
                                 const std::vector<Flow>& flows);

/// "s-0-1/7 to s-1-0/2".
std::string describe(const fabric::Fabric& fabric, fabric::PortId port);

/// How long a port takes for this many bytes, in picoseconds: its lanes' data rate after encoding.
double time_on_link_ps(const fabric::Fabric& fabric, const Parameters& parameters, fabric::PortId port,
                       std::uint64_t bytes);

}  // namespace holdfast::simulate::job
