#pragma once

#include <string>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric::opensm {

/// The id of a node in simulator_net(): "S-" or "H-" and its GUID.
std::string simulator_id(const Node& node);

/// The working links as an ibsim net file. Names are left out where they could break a line.
std::string simulator_net(const Fabric& fabric);

}  // namespace holdfast::fabric::opensm
