#pragma once

#include <string>
#include <vector>

#include "core/status/status.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// Slurm's topology.conf(5) for its plugin topology/tree: the switches that have hosts, and above them what they belong
/// to, up to one root. The file says which nodes are near each other, not which switches there are: the groups above
/// are the parts that stay connected when only the lower levels of a tree are taken, or the groups of a Dragonfly, and
/// any other fabric has one root alone. A node is called by the first word of its adapter's description, up to the
/// first dot; a host with several adapters stands at the switch of its first. Error (bad_input): no host, or a name
/// that Slurm could not read.
Result<std::string> write_slurm_topology(const Fabric& fabric);

/// Names with running numbers in Slurm's short form: n1 n2 n3 x -> "n[1-3],x". Leading zeros count.
std::string short_host_list(std::vector<std::string> names);

}  // namespace holdfast::fabric
