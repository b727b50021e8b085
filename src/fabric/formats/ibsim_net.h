#pragma once

#include <string>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// The fabric as a net file of ibsim 0.10: switches, then adapters, under the ids of node_id(), with the LIDs they
/// have, so that a subnet manager that keeps LIDs gives them the same ones. Links that are down are left out.
///
/// What ibsim cannot say is lost: rates above 4 lanes of QDR and below its own names (8x and 12x stay, FDR10 and faster
/// become QDR, 2x becomes 1x), port GUIDs other than node GUID + port number, cable lengths.
std::string write_ibsim_net(const Fabric& fabric);

}  // namespace holdfast::fabric
