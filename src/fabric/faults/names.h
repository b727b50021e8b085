#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/fault/fault.h"
#include "core/status/status.h"
#include "fabric/topology/fabric.h"

/// How links and ports are called on command lines and in reports.
namespace holdfast::fabric {

/// "s-0-1/7": the seventh port of that node.
std::string port_name(const Fabric& fabric, PortId port);

/// "s-0-1/7 - s-1-0/2".
std::string link_name(const Fabric& fabric, LinkId link);

/// The port of this name; `none` when there is none. A node may be given by its name or by its GUID ("0x...").
PortId find_port(const Fabric& fabric, std::string_view name);

/// The node of this name or GUID; `none` when there is none.
NodeId find_node(const Fabric& fabric, std::string_view name);

/// The links meant by a fault's link: the one at a port ("s-0-1/7"), the ones between two nodes, or the one between two
/// ports. Error (bad_input): nothing of that name, with a hint; no link there.
Result<std::vector<LinkId>> find_links(const Fabric& fabric, const fault::Link& link);

/// The same for one text: a port, or two ends separated by " - ", as link_name() writes it.
Result<std::vector<LinkId>> find_links(const Fabric& fabric, std::string_view text);

}  // namespace holdfast::fabric
