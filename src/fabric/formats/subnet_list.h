#pragma once

#include <string>
#include <string_view>

#include "core/status/status.h"
#include "fabric/formats/imported.h"

namespace holdfast::fabric {

/// Whether a text begins as opensm-subnet.lst does.
bool is_subnet_list(std::string_view text);

/// Reads opensm-subnet.lst (OpenSM 3.3, -D 0x40 and up): one link end a line, both ends described. A link that is in
/// state DWN is kept as down. LIDs as they were. Errors (bad_input) have line and column.
Result<Imported> read_subnet_list(std::string_view text, std::string_view name);

/// The fabric as OpenSM writes it. Links that are down are left out. ibdmchk reads it.
std::string write_subnet_list(const Fabric& fabric);

}  // namespace holdfast::fabric
