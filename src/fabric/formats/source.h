#pragma once

#include <string>
#include <string_view>

#include "core/status/status.h"
#include "fabric/formats/imported.h"

namespace holdfast::fabric {

/// The fabric of a text in any format that describes one, found by what the text looks like: discovery and ibsim nets,
/// opensm-subnet.lst. `name` is where it is from, for messages.
Result<Imported> read_fabric(std::string_view text, std::string_view name);

/// What a user gives where a FABRIC is wanted: a topology ("torus(5,5) links=6", a preset's name) or the path of a file
/// in any of those formats. A file is preferred to a topology of the same name.
Result<Imported> open_fabric(const std::string& source);

}  // namespace holdfast::fabric
