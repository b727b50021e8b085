#pragma once

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/database/sqlite_header.h"

/// A study's database whose cells come from the input, read and analysed. It has the form of one of ours and none of
/// its constraints, so a cell may be of any type.
namespace holdfast::simulate::study::rows_for_fuzz {

/// SQLite's databases in memory take the place of files. One whose name begins with a slash is shared by all
/// connections; this name is of a file that is there and says that it is ours, which is looked at first.
inline const std::string& path() {
  static const std::string made = [] {
    std::string name = "/tmp/holdfast-rows-fuzz-XXXXXX";
    const int file = mkstemp(name.data());
    std::string header("SQLite format 3\0", 16);
    header.resize(100, '\0');
    for (int i = 0; i < 4; ++i)
      header[static_cast<std::size_t>(68 + i)] = static_cast<char>(database::holdfast_application_id >> (24 - 8 * i));
    if (file < 0 || write(file, header.data(), header.size()) != static_cast<ssize_t>(header.size())) std::abort();
    close(file);
    std::atexit([] { unlink(path().c_str()); });
    return name;
  }();
  return made;
}

inline void sql(sqlite3* database, const char* text) {
  if (sqlite3_exec(database, text, nullptr, nullptr, nullptr) != SQLITE_OK) std::abort();
}

inline sqlite3* make_database() {
  sqlite3_vfs_register(sqlite3_vfs_find("memdb"), 1);
  sqlite3* made = nullptr;
  if (sqlite3_open(path().c_str(), &made) != SQLITE_OK) std::abort();
  sql(made,
      "PRAGMA application_id = 0x484F4C46; PRAGMA user_version = 1; CREATE TABLE study (name, kind, title, text);"
      "CREATE TABLE point (number INTEGER PRIMARY KEY, group_name, key); CREATE TABLE run (key, outcome, result, "
      "cpu_s)");
  return made;
}

/// A cell's first character is its type: Null, Integer, Real, Blob, or else text, all of it.
inline void bind(sqlite3_stmt* statement, int place, std::string_view cell) {
  const std::string rest(cell.substr(cell.empty() ? 0 : 1));
  const int size = static_cast<int>(rest.size());
  switch (cell.empty() ? '\0' : cell.front()) {
    case 'N':
      sqlite3_bind_null(statement, place);
      return;
    case 'I':
      sqlite3_bind_int64(statement, place, std::strtoll(rest.c_str(), nullptr, 10));
      return;
    case 'R':
      sqlite3_bind_double(statement, place, std::strtod(rest.c_str(), nullptr));
      return;
    case 'B':
      sqlite3_bind_blob(statement, place, rest.data(), size, SQLITE_TRANSIENT);
      return;
    default:
      sqlite3_bind_text(statement, place, cell.data(), static_cast<int>(cell.size()), SQLITE_TRANSIENT);
  }
}

inline void insert(sqlite3* database, const char* text, const std::vector<std::string_view>& cells) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, text, -1, &statement, nullptr) != SQLITE_OK) std::abort();
  for (std::size_t i = 0; i < cells.size(); ++i) bind(statement, static_cast<int>(i) + 1, cells[i]);
  if (sqlite3_step(statement) != SQLITE_DONE) std::abort();
  sqlite3_finalize(statement);
}

/// Cells end with a newline.
class Cells {
 public:
  explicit Cells(std::string_view text) : rest_(text) {}
  bool more() const { return !rest_.empty(); }
  std::string_view next() {
    const std::string_view cell = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(rest_.size(), cell.size() + 1));
    return cell;
  }

 private:
  std::string_view rest_;
};

/// Replaces what the database holds by the rows of the input: a kind, and of each of at most 16 points its group, its
/// key, and its run's outcome, result and time. `kind` stands in for the first cell where it is not empty.
inline void fill(sqlite3* made, std::string_view kind, std::string_view input) {
  sql(made, "BEGIN; DELETE FROM study; DELETE FROM point; DELETE FROM run");
  Cells cells(input);
  const std::string_view given = cells.next();
  insert(made, "INSERT INTO study VALUES ('name', ?, 'title', ?)", {kind.empty() ? given : kind, given});
  for (int points = 0; cells.more() && points < 16; ++points) {
    const std::string_view group = cells.next(), key = cells.next(), outcome = cells.next(), result = cells.next();
    insert(made, "INSERT INTO point (group_name, key) VALUES (?, ?)", {group, key});
    insert(made, "INSERT INTO run VALUES (?, ?, ?, ?)", {key, outcome, result, cells.next()});
  }
  sql(made, "COMMIT");
}

}  // namespace holdfast::simulate::study::rows_for_fuzz
