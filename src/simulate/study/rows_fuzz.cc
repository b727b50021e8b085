#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/database/sqlite_header.h"
#include "simulate/study/analysis.h"
#include "simulate/study/database.h"

/// A study's database whose cells come from the input, read and analysed. It has the form of one of ours and none of
/// its constraints, so a cell may be of any type.
namespace {

using namespace holdfast::simulate::study;

/// SQLite's databases in memory take the place of files. One whose name begins with a slash is shared by all
/// connections; this name is of a file that is there and says that it is ours, which is looked at first.
const std::string& path() {
  static const std::string made = [] {
    std::string name = "/tmp/holdfast-rows-fuzz-XXXXXX";
    const int file = mkstemp(name.data());
    std::string header("SQLite format 3\0", 16);
    header.resize(100, '\0');
    for (int i = 0; i < 4; ++i)
      header[static_cast<std::size_t>(68 + i)] =
          static_cast<char>(holdfast::database::holdfast_application_id >> (24 - 8 * i));
    if (file < 0 || write(file, header.data(), header.size()) != static_cast<ssize_t>(header.size())) std::abort();
    close(file);
    std::atexit([] { unlink(path().c_str()); });
    return name;
  }();
  return made;
}

void sql(sqlite3* database, const char* text) {
  if (sqlite3_exec(database, text, nullptr, nullptr, nullptr) != SQLITE_OK) std::abort();
}

sqlite3* make_database() {
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
void bind(sqlite3_stmt* statement, int place, std::string_view cell) {
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

void insert(sqlite3* database, const char* text, const std::vector<std::string_view>& cells) {
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

void check(const StudyRecord& record) {
  std::size_t outcomes = 0;
  for (const auto& [outcome, count] : record.outcomes) outcomes += count;
  if (outcomes != record.finished || record.finished > record.points) std::abort();
  for (const Panel& panel : record.panels)
    for (const Series& series : panel.series)
      for (const ScenarioSummary& scenario : series.scenarios) {
        const Quartiles& q = scenario.gbytes_per_s;
        if (scenario.measured > scenario.asked) std::abort();
        if (!(q.least <= q.lower && q.lower <= q.median && q.median <= q.upper && q.upper <= q.greatest)) std::abort();
      }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static sqlite3* const database = make_database();
  sql(database, "BEGIN; DELETE FROM study; DELETE FROM point; DELETE FROM run");
  Cells cells({reinterpret_cast<const char*>(data), size});
  const std::string_view kinds[] = {"throughput", "collectives", cells.next()};
  insert(database, "INSERT INTO study VALUES ('name', ?, 'title', 'text')", {kinds[size % 3]});
  for (int points = 0; cells.more() && points < 16; ++points) {
    const std::string_view group = cells.next(), key = cells.next(), outcome = cells.next(), result = cells.next();
    insert(database, "INSERT INTO point (group_name, key) VALUES (?, ?)", {group, key});
    insert(database, "INSERT INTO run VALUES (?, ?, ?, ?)", {key, outcome, result, cells.next()});
  }
  sql(database, "COMMIT");
  const auto opened = Database::open_to_read(path());
  if (!opened.ok()) std::abort();
  (void)opened.value().keys().ok();
  const auto record = analyse(opened.value());
  if (record.ok()) check(record.value());
  return 0;
}
