#include "plan/regression_database.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <vector>

#include "core/database/sqlite_header.h"
#include "core/stats/regression.h"

namespace holdfast::plan {
namespace {

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

struct Run {
  std::string group, fabric, traffic, options, engine;
  bool measured = false;
  double links = 0, switches = 0, throughput = 0;
  double failures() const { return links + switches; }
};

Status wrong(const std::string& path, const std::string& what, const std::string& remedy) {
  return {Code::bad_input, "reading the study " + path, what, remedy};
}

/// Before SQLite opens it: to look into another's database may change it.
Status check_owner(const std::string& path) {
  const auto header = database::read_sqlite_header(path);
  if (!header.ok()) return header.status();
  if (header.value() && header.value()->application_id == database::holdfast_application_id) return {};
  return wrong(path, "it is not one of 'holdfast study'", "give a database of 'holdfast study run'");
}

Result<std::vector<Run>> read_runs(const std::string& path) {
  if (Status status = check_owner(path); !status.ok()) return status;
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  const Database database(opened);
  sqlite3_stmt* prepared = nullptr;
  if (code != SQLITE_OK ||
      sqlite3_prepare_v2(opened,
                         "SELECT p.group_name, p.key ->> 'fabric', p.key ->> 'traffic', p.key ->> 'options', "
                         "p.key ->> 'engine', r.outcome, r.result ->> 'failed_links', r.result ->> 'failed_switches', "
                         "r.result ->> 'throughput_bytes_per_s' FROM point p JOIN run r USING (key)",
                         -1, &prepared, nullptr) != SQLITE_OK)
    return wrong(path, sqlite3_errmsg(opened), "give a database of 'holdfast study run'");
  const Statement statement(prepared);
  const auto text = [&](int column) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(prepared, column));
    return std::string(bytes == nullptr ? "" : bytes);
  };
  std::vector<Run> runs;
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(prepared)) == SQLITE_ROW) {
    Run run{text(0),
            text(1),
            text(2),
            text(3),
            text(4),
            text(5) == "measured",
            sqlite3_column_double(prepared, 6),
            sqlite3_column_double(prepared, 7),
            sqlite3_column_double(prepared, 8) / 1e9};
    const auto sane = [](double value) { return std::isfinite(value) && value >= 0 && value < 1e12; };
    if (!sane(run.links) || !sane(run.switches) || !sane(run.throughput))
      return wrong(path, "a run has figures that make no sense", "the file is damaged");
    runs.push_back(std::move(run));
  }
  if (step != SQLITE_DONE) return wrong(path, sqlite3_errmsg(opened), "is the file damaged?");
  return runs;
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

/// Leaves the runs of one group, fabric, traffic pattern and set of options.
Status choose(const std::string& path, const std::string& group, std::vector<Run>& runs) {
  std::set<std::string> groups, panels;
  for (const Run& run : runs) groups.insert(run.group);
  if (groups.empty()) return wrong(path, "it has no finished run", "run the study");
  if (group.empty() && groups.size() > 1)
    return wrong(path, "it has the groups " + listed(groups), "choose with fabric.group");
  if (!group.empty() && !groups.contains(group))
    return wrong(path, "it has no group '" + group + "'", "it has " + listed(groups));
  std::erase_if(runs, [&](const Run& run) { return !group.empty() && run.group != group; });
  for (const Run& run : runs)
    panels.insert(run.fabric + ", " + run.traffic + (run.options.empty() ? "" : ", " + run.options));
  if (panels.size() > 1)
    return wrong(path, "the group has several fabrics or patterns: " + listed(panels), "give it a group of its own");
  return {};
}

EngineLine fit(const std::string& engine, const std::vector<const Run*>& runs, bool& good) {
  std::vector<double> x, y;
  double first_failed = std::numeric_limits<double>::infinity();
  for (const Run* run : runs) {
    if (!run->measured) {
      first_failed = std::min(first_failed, run->failures());
      continue;
    }
    x.push_back(run->failures());
    y.push_back(run->throughput);
  }
  EngineLine made;
  const auto line = stats::fit_line(x, y);
  good = line.ok() && line.value().intercept > 0;
  if (!good) return made;
  made.engine = engine;
  made.intercept = line.value().intercept;
  made.slope = line.value().slope;
  made.r2 = line.value().r2;
  for (const double failures : x)
    if (failures < first_failed) made.most_failures = std::max(made.most_failures, failures);
  return made;
}

}  // namespace

bool is_database(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[16] = {};
  file.read(start, sizeof start);
  return file.gcount() == 16 && std::string_view(start, 16) == std::string_view("SQLite format 3\0", 16);
}

Result<RegressionFile> read_regression_database(const std::string& path, const std::string& group) {
  auto read = read_runs(path);
  if (!read.ok()) return read.status();
  std::vector<Run> runs = std::move(read).value();
  if (Status status = choose(path, group, runs); !status.ok()) return status;
  bool links = false, switches = false;
  std::map<std::string, std::vector<const Run*>> by_engine;
  for (const Run& run : runs) {
    links = links || run.links > 0;
    switches = switches || run.switches > 0;
    by_engine[run.engine].push_back(&run);
  }
  RegressionFile file;
  file.title = runs.front().traffic + " on " + runs.front().fabric;
  file.source = "least squares over " + std::to_string(runs.size()) + " runs of " + path;
  file.unit = "GB/s";
  file.failures = links && switches ? "links and switches" : switches ? "switches" : "links";
  for (const auto& [engine, its_runs] : by_engine) {
    bool good = false;
    EngineLine line = fit(engine, its_runs, good);
    if (good) file.engines.push_back(std::move(line));
  }
  if (file.engines.empty())
    return wrong(path, "no engine was measured at two numbers of failures", "run more of the study");
  return file;
}

}  // namespace holdfast::plan
