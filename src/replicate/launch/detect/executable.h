#pragma once

#include <string>
#include <string_view>

#include "core/status/status.h"

namespace holdfast::launch {

/// The file that a shell would run for `name`: the path itself when it holds a '/', otherwise the first executable file
/// of that name in `search` (as in PATH). Errors: not_found; bad_input for a folder or a file without execute
/// permission.
Result<std::string> find_executable(std::string_view name, std::string_view search);

/// The same with the PATH of this process.
Result<std::string> find_executable(std::string_view name);

}  // namespace holdfast::launch
