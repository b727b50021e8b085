#pragma once

#include <cstdint>
#include <vector>

#include "core/status/status.h"
#include "fabric/topology/fabric.h"

namespace holdfast::simulate::job {

/// Whether links that are up join these adapters (by number in Hosts, packet/hosts.h): each by itself, or, by
/// `all_rails`, any adapter of the same computer in its place. Linear in the fabric. Error (bad_input): the first that
/// is parted from the first of them.
Status check_reach(const fabric::Fabric& fabric, const std::vector<std::uint32_t>& hosts, bool all_rails);

}  // namespace holdfast::simulate::job
