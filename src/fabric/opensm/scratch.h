#pragma once

#include <string>
#include <string_view>

#include "core/status/status.h"

namespace holdfast::fabric::opensm {

/// Writes a file at once, replacing what was there. Error: io.
Status write_file(const std::string& path, std::string_view text);

/// The whole file. Error: io.
Result<std::string> read_file(const std::string& path);

/// A path below $TMPDIR (or /tmp) that no other session of any process uses; nothing is created. Any thread.
std::string unused_folder();

}  // namespace holdfast::fabric::opensm
