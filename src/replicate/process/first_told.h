#pragma once

#include <string>
#include <string_view>

namespace holdfast::replicate {

/// What the first of several processes that share a folder was told, for all of them: the file `path` is it. Who comes
/// first leaves `own` there, whole or not at all; who comes later is given what is there. `draft`: a name beside it
/// that no other process uses. Where the folder cannot be written, or the file is none or larger than a MiB, it is
/// `own`: this process's alone. Nobody waits for anybody. Any thread.
std::string first_told(const std::string& path, const std::string& draft, std::string_view own);

/// How often this was called before for the same file, by any process: the file is a count, locked (flock) meanwhile.
/// -1 where it cannot be kept.
long count_in_file(const std::string& path);

}  // namespace holdfast::replicate
