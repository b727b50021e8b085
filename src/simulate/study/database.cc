#include "simulate/study/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/database/sqlite_header.h"
#include "core/event/json.h"
#include "simulate/study/provenance.h"

namespace holdfast::simulate::study {
namespace {

constexpr int format_version = 1;

constexpr const char* schema = R"sql(
CREATE TABLE study (name TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE point (number INTEGER PRIMARY KEY, group_name TEXT NOT NULL, key TEXT NOT NULL);
CREATE TABLE run (key TEXT PRIMARY KEY, outcome TEXT NOT NULL, result TEXT NOT NULL, cpu_s REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX point_key ON point (key);
CREATE VIEW throughput AS SELECT p.group_name, p.key ->> 'fabric' AS fabric, p.key ->> 'engine' AS engine,
  p.key ->> 'traffic' AS traffic, p.key ->> 'failures' AS failures, p.key ->> 'years' AS years,
  p.key ->> 'seed' AS seed, p.key ->> 'options' AS options, r.outcome, r.result ->> 'failed_links' AS failed_links,
  r.result ->> 'failed_switches' AS failed_switches, r.result ->> 'links_down' AS links_down,
  r.result ->> 'links' AS links, r.result ->> 'throughput_bytes_per_s' AS throughput_bytes_per_s,
  r.result ->> 'host_mean_bytes_per_s' AS host_mean_bytes_per_s, r.result ->> 'completion_ps' AS completion_ps,
  r.result ->> 'lanes_used' AS lanes_used, r.result ->> 'credit_loops' AS credit_loops,
  r.result ->> 'lost_pairs' AS lost_pairs, r.result ->> 'forwarding_index' AS forwarding_index,
  r.result ->> 'ending' AS ending, r.result ->> 'reason' AS reason, r.cpu_s
  FROM point p JOIN run r USING (key) WHERE (SELECT kind FROM study) = 'throughput';
CREATE VIEW collectives AS SELECT p.group_name, p.key ->> 'assumptions' AS assumptions,
  p.key ->> 'operation' AS operation, p.key ->> 'bytes' AS bytes, p.key ->> 'protection' AS protection,
  p.key ->> 'copies' AS copies, p.key ->> 'case' AS named_case, p.key ->> 'source' AS source,
  p.key ->> 'mean_ns' AS mean_ns, p.key ->> 'strikes' AS strikes, p.key ->> 'reach' AS reach,
  p.key ->> 'bit_error_rate' AS bit_error_rate, r.result ->> 'collectives' AS collectives,
  r.result ->> 'incomplete' AS incomplete, r.result ->> 'wrong' AS wrong,
  r.result ->> '$.root.mean_ns' AS root_mean_ns, r.result ->> '$.root.low_ns' AS root_low_ns,
  r.result ->> '$.root.high_ns' AS root_high_ns, r.result ->> '$.last_host.mean_ns' AS last_host_mean_ns,
  r.result ->> '$.last_host.low_ns' AS last_host_low_ns, r.result ->> '$.last_host.high_ns' AS last_host_high_ns,
  r.cpu_s FROM point p JOIN run r USING (key) WHERE (SELECT kind FROM study) = 'collectives';
)sql";

Status not_ours(const std::string& path) {
  return {Code::bad_input, "opening the database " + path, "it is not one of 'holdfast study'", "name another file"};
}

/// That SQLite may open the file: it is ours, or new where one may be made. Nothing else is touched.
Status check_owner(const std::string& path, bool may_be_new) {
  const auto header = database::read_sqlite_header(path);
  if (!header.ok()) return may_be_new && header.status().code() == Code::not_found ? Status() : header.status();
  if (!header.value()) return may_be_new ? Status() : not_ours(path);
  return header.value()->application_id == database::holdfast_application_id ? Status() : not_ours(path);
}

/// One name for one file, so that whoever comes through a symbolic link meets the same lock.
std::string real_name(const std::string& path) {
  std::error_code none;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, none);
  return none || real.empty() ? path : real.string();
}

}  // namespace

/// Keeps a second writer out for as long as it lives. What counts is the lock, not that its file is there: the system
/// drops it with the process, whatever ends that, and only its holder removes the file. A file of its own: SQLite's
/// locks are the process's, and closing another descriptor of the database would drop them; over NFS flock(2) is a lock
/// of the same kind, which SQLite would meet.
class Database::Lock {
 public:
  static Result<std::unique_ptr<Lock>> take(const std::string& database) {
    auto lock = std::make_unique<Lock>();
    lock->path_ = real_name(database) + ".lock";
    for (int attempt = 0; attempt < 100; ++attempt) {
      lock->file_ = ::open(lock->path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
      if (lock->file_ < 0) return Status{Code::io, "opening " + lock->path_, std::strerror(errno), "check the folder"};
      if (::flock(lock->file_, LOCK_EX | LOCK_NB) != 0) {
        const bool busy = errno == EWOULDBLOCK;
        const std::string wrong = busy ? "another process is writing to it" : std::strerror(errno);
        return Status{busy ? Code::bad_input : Code::io, "opening the database " + database, wrong,
                      busy ? "wait for it, or name another with --database" : "check the file system"};
      }
      struct stat held {
      }, there{};  // the one that held it before may have removed the file meanwhile
      lock->held_ = ::fstat(lock->file_, &held) == 0 && ::stat(lock->path_.c_str(), &there) == 0 &&
                    held.st_ino == there.st_ino && held.st_dev == there.st_dev;
      if (lock->held_) return lock;
      ::close(std::exchange(lock->file_, -1));
    }
    return Status{Code::io, "locking " + lock->path_, "the file keeps vanishing", "check the folder"};
  }
  ~Lock() {
    if (held_) ::unlink(path_.c_str());
    if (file_ >= 0) ::close(file_);
  }

 private:
  std::string path_;
  int file_ = -1;
  bool held_ = false;
};

/// A prepared statement; steps to the end or until an error.
class Database::Statement {
 public:
  Statement(const Database& database, const char* sql) : database_(database) {
    code_ = sqlite3_prepare_v2(database.handle_, sql, -1, &statement_, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& text(int place, std::string_view value) {
    if (code_ == SQLITE_OK)
      code_ = sqlite3_bind_text64(statement_, place, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
  }
  Statement& number(int place, std::int64_t value) {
    if (code_ == SQLITE_OK) code_ = sqlite3_bind_int64(statement_, place, value);
    return *this;
  }
  Statement& real(int place, double value) {
    if (code_ == SQLITE_OK) code_ = sqlite3_bind_double(statement_, place, value);
    return *this;
  }
  /// True while there is a row.
  bool step() {
    if (code_ != SQLITE_OK && code_ != SQLITE_ROW) return false;
    code_ = sqlite3_step(statement_);
    return code_ == SQLITE_ROW;
  }
  Status finish(const std::string& doing) {
    while (step()) {
    }
    return code_ == SQLITE_DONE ? Status{} : database_.error(doing);
  }
  std::string column(int index) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, index));
    return text == nullptr ? std::string()
                           : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, index)));
  }
  double real_column(int index) const { return sqlite3_column_double(statement_, index); }
  bool is_null(int index) const { return sqlite3_column_type(statement_, index) == SQLITE_NULL; }

 private:
  const Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int code_ = SQLITE_OK;
};

Database::Database() = default;
Database::Database(Database&& other) noexcept
    : path_(std::move(other.path_)),
      handle_(std::exchange(other.handle_, nullptr)),
      lock_(std::move(other.lock_)),
      about_(std::move(other.about_)) {}
Database& Database::operator=(Database&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(handle_, other.handle_);
  std::swap(lock_, other.lock_);
  std::swap(about_, other.about_);
  return *this;
}
Database::~Database() {
  sqlite3_close(handle_);  // before the lock goes
}

Status Database::error(const std::string& doing) const {
  const int code = sqlite3_errcode(handle_);
  const bool not_ours = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
  return {not_ours ? Code::bad_input : Code::io, doing + " " + path_, sqlite3_errmsg(handle_),
          not_ours ? "is it a study's database?" : "check the disk"};
}

Status Database::run_sql(const char* sql) const {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return error("using the database");
}

Status Database::check_format() {
  std::int64_t id = 0, version = 0;
  {
    Statement asked(*this,
                    "SELECT (SELECT application_id FROM pragma_application_id), user_version FROM "
                    "pragma_user_version");
    if (!asked.step()) return error("reading the database");
    id = static_cast<std::int64_t>(asked.real_column(0));
    version = static_cast<std::int64_t>(asked.real_column(1));
  }
  if (id != database::holdfast_application_id) return not_ours(path_);
  if (version != format_version)
    return {Code::bad_input, "reading the database " + path_,
            "its format is " + std::to_string(version) + ", this program knows " + std::to_string(format_version),
            "use the program that wrote it"};
  Statement asked(*this, "SELECT name, kind, title, text FROM study");
  if (!asked.step()) return error("reading the database");
  about_ = {asked.column(0), asked.column(1), asked.column(2), asked.column(3)};
  return {};
}

Status Database::write_study(const Study& study) {
  if (Status status = run_sql("BEGIN IMMEDIATE; DELETE FROM study; DELETE FROM point"); !status.ok()) return status;
  Statement about(*this, "INSERT INTO study VALUES (?, ?, ?, ?)");
  Status status =
      about.text(1, study.name).text(2, study.kind).text(3, study.title).text(4, study.text).finish("writing to");
  for (std::size_t i = 0; i < study.points.size() && status.ok(); ++i) {
    Statement point(*this, "INSERT INTO point VALUES (?, ?, ?)");
    status = point.number(1, static_cast<std::int64_t>(i))
                 .text(2, study.points[i].group)
                 .text(3, study.points[i].key)
                 .finish("writing to");
  }
  return status.ok() ? run_sql("COMMIT") : status;
}

/// Where there is nothing yet. The mark that it is ours is in the file before there is a write-ahead log.
Status Database::create() {
  bool is_empty = false;
  {
    Statement asked(*this, "SELECT count(*) FROM sqlite_schema");
    if (!asked.step()) return error("reading the database");
    is_empty = asked.real_column(0) == 0;
  }
  if (!is_empty) return {};
  const std::string sql = std::string("BEGIN IMMEDIATE;") + schema +
                          "INSERT INTO study VALUES ('', '', '', '');"
                          "PRAGMA application_id = " +
                          std::to_string(database::holdfast_application_id) +
                          "; PRAGMA user_version = " + std::to_string(format_version) + "; COMMIT";
  return run_sql(sql.c_str());
}

Result<Database> Database::open_to_write(const std::string& path, const Study& study) {
  Database database;
  database.path_ = path;
  if (Status status = check_owner(path, true); !status.ok()) return status;
  auto lock = Lock::take(path);
  if (!lock.ok()) return lock.status();
  database.lock_ = std::move(lock).value();
  if (Status status = check_owner(path, true); !status.ok()) return status;  // another may have made it meanwhile
  if (sqlite3_open_v2(path.c_str(), &database.handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) !=
      SQLITE_OK)
    return database.error("opening the database");
  sqlite3_busy_timeout(database.handle_, 10'000);
  Status status = database.run_sql("PRAGMA synchronous = FULL");
  if (status.ok()) status = database.create();
  if (status.ok()) status = database.check_format();
  // Where a file system cannot hold a write-ahead log, SQLite keeps its rollback journal: slower, as safe.
  if (status.ok()) status = database.run_sql("PRAGMA journal_mode = WAL");
  const About& there = database.about_;
  if (status.ok() && !there.name.empty() && (there.name != study.name || there.kind != study.kind))
    return Status{Code::bad_input, "opening the database " + path,
                  "it holds the study '" + there.name + "', not '" + study.name + "'", "name another with --database"};
  if (status.ok()) status = database.write_study(study);
  if (!status.ok()) return status;
  database.about_ = {study.name, study.kind, study.title, study.text};
  return database;
}

Result<Database> Database::open_to_read(const std::string& path) {
  if (Status status = check_owner(path, false); !status.ok()) return status;
  Database database;
  database.path_ = path;
  if (sqlite3_open_v2(path.c_str(), &database.handle_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK)
    return database.error("opening the database");
  sqlite3_busy_timeout(database.handle_, 10'000);
  if (Status status = database.check_format(); !status.ok()) return status;
  return database;
}

Result<std::unordered_set<std::string>> Database::keys() const {
  std::unordered_set<std::string> keys;
  Statement asked(*this, "SELECT key FROM run");
  while (asked.step()) keys.insert(asked.column(0));
  if (Status status = asked.finish("reading"); !status.ok()) return status;
  return keys;
}

Result<std::map<std::string, std::size_t>> Database::outdated() const {
  std::map<std::string, Json> asked_today;
  Statement points(*this, "SELECT DISTINCT key FROM point");
  while (points.step()) {
    Json parameters = event::parse_json(points.column(0));
    if (parameters.is_object()) asked_today.emplace(identity(parameters), std::move(parameters));
  }
  if (Status status = points.finish("reading"); !status.ok()) return status;
  std::map<std::string, std::size_t> found;
  Statement runs(*this, "SELECT key FROM run WHERE key NOT IN (SELECT key FROM point)");
  while (runs.step()) {
    const Json parameters = event::parse_json(runs.column(0));
    if (!parameters.is_object()) continue;
    const auto point = asked_today.find(identity(parameters));
    if (point != asked_today.end()) ++found[difference(parameters, point->second)];
  }
  if (Status status = runs.finish("reading"); !status.ok()) return status;
  return found;
}

namespace {

/// A study whose file is not at hand.
class StoredStudy final : public Study {
 public:
  Result<Finished> run(std::size_t) const override {
    return Status{Code::internal, "running a point of a stored study", "it has points alone", "please report this"};
  }
};

}  // namespace

Result<std::unique_ptr<Study>> Database::study() const {
  auto made = std::make_unique<StoredStudy>();
  made->name = about_.name;
  made->kind = about_.kind;
  made->title = about_.title;
  made->text = about_.text;
  Statement asked(*this, "SELECT group_name, key FROM point ORDER BY number");
  while (asked.step()) made->points.push_back({asked.column(0), event::parse_json(asked.column(1)), asked.column(1)});
  if (Status status = asked.finish("reading"); !status.ok()) return status;
  return std::unique_ptr<Study>(std::move(made));
}

Status Database::add(const Point& point, const Finished& finished) {
  Statement added(*this, "INSERT OR IGNORE INTO run VALUES (?, ?, ?, ?)");
  return added.text(1, point.key)
      .text(2, finished.outcome)
      .text(3, event::json_line(finished.result))
      .real(4, finished.cpu_s)
      .finish("writing to");
}

Result<std::vector<Database::Row>> Database::rows() const {
  std::vector<Row> rows;
  Statement asked(*this,
                  "SELECT p.group_name, p.key, r.outcome, r.result, r.cpu_s FROM point p LEFT JOIN run r "
                  "USING (key) ORDER BY p.number");
  while (asked.step()) {
    Row row{asked.column(0), event::parse_json(asked.column(1)), {}};
    if (!asked.is_null(2))
      row.finished = Finished{asked.column(2), event::parse_json(asked.column(3)), asked.real_column(4)};
    if (!row.parameters.is_object() || (row.finished && !row.finished->result.is_object()))
      return Status{Code::bad_input, "reading the database " + path_, "a run is no JSON object", "the file is damaged"};
    rows.push_back(std::move(row));
  }
  if (Status status = asked.finish("reading"); !status.ok()) return status;
  return rows;
}

Status Database::take_over(const Database& other, std::size_t& added) {
  if (other.about_.name != about_.name || other.about_.kind != about_.kind)
    return {Code::bad_input, "merging " + other.path_,
            "it holds the study '" + other.about_.name + "', not '" + about_.name + "'", "merge shares of one study"};
  if (Status status = run_sql("BEGIN IMMEDIATE"); !status.ok()) return status;
  added = 0;
  Status status;
  Statement theirs(other, "SELECT key, outcome, result, cpu_s FROM run");
  while (status.ok() && theirs.step()) {
    Statement ours(*this, "SELECT outcome, result FROM run WHERE key = ?");
    if (ours.text(1, theirs.column(0)).step()) {
      if (ours.column(0) != theirs.column(1) || ours.column(1) != theirs.column(2))
        status = {Code::bad_input, "merging " + other.path_, "a run has another result there: " + theirs.column(0),
                  "were they made by different programs?"};
      continue;
    }
    Statement insert(*this, "INSERT INTO run VALUES (?, ?, ?, ?)");
    status = insert.text(1, theirs.column(0))
                 .text(2, theirs.column(1))
                 .text(3, theirs.column(2))
                 .real(4, theirs.real_column(3))
                 .finish("writing to");
    ++added;
  }
  if (status.ok()) status = theirs.finish("reading");
  const Status ended = run_sql(status.ok() ? "COMMIT" : "ROLLBACK");
  return status.ok() ? ended : status;
}

}  // namespace holdfast::simulate::study
