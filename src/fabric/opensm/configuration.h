#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "fabric/opensm/session.h"
#include "fabric/topology/fabric.h"

/// The files that OpenSM reads. All GUIDs are those that ibsim gives: the node's, plus the port number for adapters.
namespace holdfast::fabric::opensm {

/// opensm.conf for one session whose files lie in `folder`; each adapter port has 2^lmc LIDs.
std::string configuration(const Request& request, const std::string& folder, std::uint8_t lmc = 0);

/// The LMC of all cabled adapter ports. bad_input where they have several, or a switch has another than 0: OpenSM gives
/// the same to every adapter, and one LID to a switch of ibsim.
Result<std::uint8_t> lmc_of_all(const Fabric& fabric);

/// guid2lid: has OpenSM keep the LIDs of the fabric.
std::string lid_table(const Fabric& fabric);

/// Roots for up*/down*: the switches that are farthest from any adapter, as the top of a tree is; where every switch
/// has adapters, one switch in the middle (least sum of distances to the others, the lowest node of several).
std::vector<NodeId> choose_roots(const Fabric& fabric);

/// What to give as root_guid_file to an engine that takes one: for updn and dnup choose_roots(), for ftree the switches
/// farthest from any adapter, where there are some above them. Without, ftree guesses them and refuses trees that have
/// lost links. None for other engines.
std::vector<NodeId> roots_for(std::string_view engine, const Fabric& fabric);

/// bad_input when adapters lie in several subnets that no cable joins, dead ones included (the planes of a machine):
/// OpenSM routes the one that it runs in, and what it leaves of the others would count as lost.
Status check_one_subnet(const Fabric& fabric);

}  // namespace holdfast::fabric::opensm
