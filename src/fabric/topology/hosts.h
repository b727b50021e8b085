#pragma once

#include <cstdint>
#include <string_view>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// Who is behind the channel adapters of a real cluster.
struct HostCount {
  std::uint32_t hosts = 0;              ///< computers with a cabled adapter port
  std::uint32_t adapters = 0;           ///< with a cabled port, those of aggregation nodes left out
  std::uint32_t ports = 0;              ///< of these adapters, cabled
  std::uint32_t aggregation_nodes = 0;  ///< adapters inside switches that reduce packets (SHARP)
};

/// Adapters of one computer are told by their names, as drivers set them: "node17 HCA-1" and "node17 mlx5_1" are
/// node17's. Any other name is a computer of its own. A dead cable counts; linear.
HostCount count_hosts(const Fabric& fabric);

/// "node17" of "node17 HCA-1"; the whole name when it does not end in that of a device.
std::string_view host_of(std::string_view node_name);
bool is_aggregation_node(const Node& node);

}  // namespace holdfast::fabric
