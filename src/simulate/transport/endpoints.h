#pragma once

#include <cstdint>
#include <vector>

#include "core/status/status.h"
#include "fabric/topology/fabric.h"

namespace holdfast::simulate {

/// Which adapters are one host's, and so the rails of one engine. Adapters are numbered as in Hosts
/// (packet/hosts.h), endpoints by their first adapter.
struct Endpoints {
  struct Rail {
    std::uint32_t endpoint = 0;
    std::uint32_t rail = 0;
  };
  std::vector<std::vector<std::uint32_t>> adapters;  ///< by endpoint and rail, in the order of their names and ports
  std::vector<Rail> rail_of;                         ///< by adapter
};

/// Adapters of one computer (computers_of()) belong together; with `most` of 1 none do. Error (bad_input): a host has
/// more than `most` (above 1).
Result<Endpoints> find_endpoints(const fabric::Fabric& fabric, std::uint32_t most);

}  // namespace holdfast::simulate
