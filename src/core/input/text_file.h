#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status/status.h"

namespace holdfast::input {

/// No text that Holdfast reads comes near this: path records of 5,000 hosts are 2.5 GB. What has no end (/dev/zero)
/// must not fill the memory.
inline constexpr std::uint64_t most_text_bytes = std::uint64_t{4} << 30;

/// Reads a whole text file that a user named; `what` is what it is to be, for messages ("the study"; may be empty).
/// Every command reads its inputs with this, so that one mistake has one exit code. Errors: not_found: there is no such
/// file; bad_input: the name stands for something that is no readable text (a directory, a link to itself, a name that
/// is too long, a file without permission, bytes of 0, more than `most`); io: the device failed. Pipes are read to
/// their end. Any thread.
Result<std::string> read_text_file(const std::string& path, std::string_view what = {},
                                   std::uint64_t most = most_text_bytes);

/// The same of any bytes, for digests.
Result<std::string> read_file(const std::string& path, std::string_view what = {},
                              std::uint64_t most = most_text_bytes);

/// That a file that a user named can be opened by whoever reads it by himself, as SQLite does: ok for regular files
/// alone. Errors as above.
Status check_file(const std::string& path, std::string_view what);

}  // namespace holdfast::input
