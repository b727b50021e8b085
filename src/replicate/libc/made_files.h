#pragma once

#include <optional>
#include <string_view>

namespace holdfast::replicate {

/// Files whose contents are not read from where they seem to be, because they differ between replicas: the random
/// devices (random.h), and those by which the kernel tells about a process and its host, whose contents are what the
/// leader read at that place (docs/reference/agreed.md). A descriptor of a file in memory, or -1 with errno; nothing
/// where the path is none of them, or the caller not the program.
std::optional<int> open_made_file(const char* path, int flags);

/// A new file in memory, to be read from its beginning; O_CLOEXEC among `flags` counts. -1 with errno: ENOMEM.
int file_in_memory(std::string_view contents, int flags);

}  // namespace holdfast::replicate
