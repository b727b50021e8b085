#pragma once

#include <string>
#include <string_view>

#include "core/status/status.h"

namespace holdfast::output {

/// Writes a text to where a user said that it shall go. A regular file, or one that is not there yet, is replaced at
/// once: readers see the old one or the new one, never half of it, also after a crash; it keeps its mode and owner, and
/// a symbolic link to it stays. Where that cannot be (its folder takes no new file, it is a mount point, its owner
/// could not be kept) it is written in place, and so is all that is no regular file: devices, FIFOs, and descriptors of
/// this process by name (/dev/stdout, /dev/fd/3), behind what std::cout has taken. Error: io. Any thread.
Status write_file(const std::string& path, std::string_view text);

/// Whether write_file() could write there now, as far as that can be told without doing it: for commands that have a
/// result only after hours. Error: io, in the words of write_file(). Any thread.
Status check_file(const std::string& path);

}  // namespace holdfast::output
