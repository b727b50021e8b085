#pragma once

#include <string>
#include <vector>

#include "core/status/status.h"
#include "fabric/opensm/session.h"
#include "fabric/topology/fabric.h"

/// The files that OpenSM reads. All GUIDs are those that ibsim gives: the node's, plus the port number for adapters.
namespace holdfast::fabric::opensm {

/// opensm.conf for one session whose files lie in `folder`.
std::string configuration(const Request& request, const std::string& folder);

/// guid2lid: has OpenSM keep the LIDs of the fabric.
std::string lid_table(const Fabric& fabric);

/// Roots for up*/down*: the switches that are farthest from any adapter, as the top of a tree is; where every switch
/// has adapters, one switch in the middle (least sum of distances to the others, the lowest node of several).
std::vector<NodeId> choose_roots(const Fabric& fabric);

}  // namespace holdfast::fabric::opensm
