#pragma once

#include <string>
#include <string_view>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// The id of a node in discovery and net files, without quotes: "S-0002c90000000001" for a switch, "H-..." for a
/// channel adapter.
std::string node_id(const Node& node);

/// A node's description as a file can carry it: at most 63 bytes, '"' as '\'' and control characters as blanks.
std::string clean_name(std::string_view name);

}  // namespace holdfast::fabric
