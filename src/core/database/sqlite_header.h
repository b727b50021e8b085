#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/status/status.h"

/// Whose a SQLite file is, without SQLite: opening another's file with it may roll back a journal, fold in a
/// write-ahead log and leave files beside it.
namespace holdfast::database {

inline constexpr std::uint32_t holdfast_application_id = 0x484F4C46;  ///< "HOLF"

struct SqliteHeader {
  std::uint32_t application_id = 0;
  std::uint32_t user_version = 0;
};

/// What the first page says (https://www.sqlite.org/fileformat.html, 1.3), the newest of them when the write-ahead log
/// has one. None for a file of no bytes, which is a database as well. Nothing is written. Errors: not_found; bad_input
/// for what is no regular file or no SQLite file; io.
Result<std::optional<SqliteHeader>> read_sqlite_header(const std::string& path);

}  // namespace holdfast::database
