#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/status/status.h"
#include "simulate/study/study.h"

struct sqlite3;

namespace holdfast::simulate::study {

/// A study's one file: SQLite, tables `study`, `point` and `run`, and the views `throughput` and `collectives` that
/// show runs with a column a figure (docs/spec/study.md). Every run is one transaction that is on the disk before add()
/// returns, so a process that is killed loses what it was computing and nothing else. One thread; not across fork().
class Database {
 public:
  /// Opens or creates the file to write this study's runs into. Points that the file no longer has are dropped, runs
  /// are kept. One writer at a time, by an advisory lock (flock(2)) on `path`.lock, which is gone with its holder.
  /// Errors: bad_input when it is no such database or another study's, which is left as it is, or when another process
  /// writes to it; io.
  static Result<Database> open_to_write(const std::string& path, const Study& study);
  /// Opens a file to read. Errors: not_found; bad_input for what is no such database, which is left as it is.
  static Result<Database> open_to_read(const std::string& path);

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  struct About {
    std::string name, kind, title, text;
  };
  const About& about() const { return about_; }

  /// The keys of the runs that are there.
  Result<std::unordered_set<std::string>> keys() const;
  /// How many runs are kept that answer the question of a point and came from other files or another program
  /// (provenance.h), by what is different. They are in no row.
  Result<std::map<std::string, std::size_t>> outdated() const;
  /// The study as it was written: its points, which cannot be run.
  Result<std::unique_ptr<Study>> study() const;
  /// Adds a run; one that is there already stays as it is.
  Status add(const Point& point, const Finished& finished);

  /// A point and, when it was run, what became of it.
  struct Row {
    std::string group;
    Json parameters;
    std::optional<Finished> finished;
  };
  /// All points in the study's order.
  Result<std::vector<Row>> rows() const;

  /// Takes over the runs of another database of the same study. Error (bad_input): another study; a run that is in both
  /// with different results.
  Status take_over(const Database& other, std::size_t& added);

 private:
  class Lock;
  class Statement;
  Database();
  Status run_sql(const char* sql) const;
  Status check_format();
  Status create();
  Status write_study(const Study& study);
  Status error(const std::string& doing) const;

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::unique_ptr<Lock> lock_;
  About about_;
};

}  // namespace holdfast::simulate::study
