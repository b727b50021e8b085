#pragma once

#include <string_view>

#include "core/status/status.h"
#include "fabric/topology/fabric.h"
#include "fabric/topology/notation.h"

namespace holdfast::fabric {

/// Builds the network: its switches (nodes 0 to switch_count() - 1, named "s-" and their coordinates, as "s-2-0-1"),
/// its switch-to-switch links, then its hosts ("host-0" on) with one cable each; LIDs are assigned. The fabric's
/// structure() says where each switch lies.
///
/// Port numbers: on grids, ports of one direction have the same numbers everywhere (dimension order routing by port
/// numbers relies on it), and hosts follow. On trees a leaf's hosts come first, then the ports up; other switches have
/// their ports down first.
///
/// Errors (bad_input): numbers that the family cannot be built from, or more ports than a switch has.
Result<Fabric> generate(const Topology& topology);

/// parse_topology(), then generate().
Result<Fabric> generate(std::string_view text);

}  // namespace holdfast::fabric
