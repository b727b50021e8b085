#pragma once

#include <string_view>

#include "core/status/status.h"
#include "fabric/formats/imported.h"

namespace holdfast::fabric {

/// Whether a text looks like the ports report of ibnetdiscover (-p).
bool is_ports_report(std::string_view text);

/// Reads it. It gives ports by their own GUIDs and says nothing of nodes: ports of one adapter are those whose GUIDs
/// are as far from one another as their numbers, which is how adapters get them. Errors (bad_input) have line and
/// column.
Result<Imported> read_ports_report(std::string_view text, std::string_view name);

}  // namespace holdfast::fabric
