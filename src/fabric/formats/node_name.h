#pragma once

#include <string>
#include <string_view>

#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// The id of a node in discovery and net files, without quotes: "S-0002c90000000001" for a switch, "H-..." for a
/// channel adapter.
std::string node_id(const Node& node);

/// A node's description as a file can carry it: at most 63 bytes, none of a UTF-8 letter that does not fit, '"' as
/// '\'' and control characters as blanks.
std::string clean_name(std::string_view name);

/// Bytes of the UTF-8 letter that `text` begins with, 1 to 4 (RFC 3629, section 4); 0 when it begins with none.
std::size_t letter_length(std::string_view text);

/// A node's description in an XML file in UTF-8, escaped: control characters, and bytes that are no UTF-8 (names are in
/// whatever encoding their administrator used), as '?'.
std::string xml_name(std::string_view name);

}  // namespace holdfast::fabric
