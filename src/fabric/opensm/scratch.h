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

/// Removes, below $TMPDIR (or /tmp), the folders of sessions whose command and keeper were killed together: those of
/// this user with a name of unused_folder() that no keeper holds (its lock, flock(2), keeper.h) and that are older than
/// a minute, as a keeper locks its folder after it has made it. What cannot be looked at or locked stays. Any thread.
void remove_left_folders();

}  // namespace holdfast::fabric::opensm
