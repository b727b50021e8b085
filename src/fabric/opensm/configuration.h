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

/// A GUID a line.
std::string root_guids(const Fabric& fabric, const std::vector<NodeId>& roots);

/// Roots for up*/down*: the switches that are farthest from any adapter, as the top of a tree is; where every switch
/// has adapters, one switch in the middle (least sum of distances to the others, the lowest node of several).
std::vector<NodeId> choose_roots(const Fabric& fabric);

/// torus-2QoS.conf for a mesh or torus (generated, or found in the cables) of up to three dimensions: its sizes, and as
/// the seed the first switch that has working links to all its neighbours. Error: bad_input for anything else.
Result<std::string> torus_configuration(const Fabric& fabric);

}  // namespace holdfast::fabric::opensm
