#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/numbers.h"
#include "cli/study_pool.h"
#include "cli/subcommands.h"
#include "core/event/record.h"
#include "core/input/text_file.h"
#include "core/output/output_file.h"
#include "report/predictions_report.h"
#include "report/study_report.h"
#include "simulate/predict/prediction.h"
#include "simulate/study/analysis.h"
#include "simulate/study/database.h"
#include "simulate/study/pool.h"

namespace holdfast::cli {
namespace {

using simulate::study::Database;
using simulate::study::Finished;
using simulate::study::Messages;
using simulate::study::Study;

struct StudyRunFlags {
  std::string file;
  std::string database;
  std::string share;
  std::vector<std::string> groups;
  unsigned workers = 0;
  std::string silence = "60s";
  bool json = false;
  bool quiet = false;
};

/// Which runs are this process's: part `number` of `of`, from 1.
struct Share {
  std::size_t number = 1, of = 1;
};

Result<Share> read_share(const std::string& text) {
  Share share;
  if (text.empty()) return share;
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto read = [](std::string_view digits, std::size_t& number) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (slash == text.size() || !read(std::string_view(text).substr(0, slash), share.number) ||
      !read(std::string_view(text).substr(slash + 1), share.of) || share.number < 1 || share.of < share.number ||
      share.of > 1'000'000)
    return Status{Code::bad_input, "reading the command line", "--share " + text + " is not understood",
                  "as in 3/8, the third of eight shares"};
  return share;
}

std::string database_of(const StudyRunFlags& flags, const Share& share) {
  if (!flags.database.empty()) return flags.database;
  std::string name = std::filesystem::path(flags.file).stem().string();
  if (share.of > 1) name += fmt::format(".share-{}-of-{}", share.number, share.of);
  return name + ".sqlite";
}

/// That the groups that were asked for are there.
Status check_groups(const Study& study, const StudyRunFlags& flags) {
  std::set<std::string> unknown(flags.groups.begin(), flags.groups.end());
  for (const simulate::study::Point& point : study.points) unknown.erase(point.group);
  if (unknown.empty()) return {};
  return {Code::bad_input, "choosing groups of " + flags.file, "there is no group '" + *unknown.begin() + "'",
          "see the names in the file"};
}

/// What is still to be run: each key once, of this share and these groups. `selected` counts with those finished.
std::vector<std::size_t> select(const Study& study, const StudyRunFlags& flags, const Share& share,
                                std::size_t& selected, const std::unordered_set<std::string>& finished) {
  std::set<std::string_view> seen;
  std::vector<std::size_t> todo;
  selected = 0;
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const simulate::study::Point& point = study.points[i];
    const bool chosen = flags.groups.empty() || std::ranges::find(flags.groups, point.group) != flags.groups.end();
    if (!chosen || !seen.insert(point.key).second) continue;
    if ((seen.size() - 1) % share.of != share.number - 1) continue;
    ++selected;
    if (!finished.contains(point.key)) todo.push_back(i);
  }
  return todo;
}

Result<std::map<std::string, std::size_t>> count_outcomes(const Database& database) {
  auto rows = database.rows();
  if (!rows.ok()) return rows.status();
  std::map<std::string, std::size_t> outcomes;
  for (const Database::Row& row : rows.value()) ++outcomes[row.finished ? row.finished->outcome : "not run"];
  return outcomes;
}

/// Runs that the database keeps and nothing is said from.
void print_outdated(const std::map<std::string, std::size_t>& outdated) {
  for (const auto& [why, count] : outdated)
    std::cout << fmt::format("  {} {} not used: {}\n", count, count == 1 ? "run is" : "runs are", why);
}

struct Summary {
  std::string database;
  std::size_t selected = 0, found = 0, added = 0;
  std::map<std::string, std::size_t> outdated{};  // runs that are kept and not used, by what has changed
  int signal = 0;
};

int print_summary(const StudyRunFlags& flags, const Study& study, const Database& database, const Summary& summary) {
  auto outcomes = count_outcomes(database);
  if (!outcomes.ok()) return complain(outcomes.status());
  if (flags.json) {
    auto record = event::make_record("holdfast.study-run", 1);
    record["study"] = study.name;
    record["database"] = summary.database;
    record["runs"] = summary.selected;
    record["found"] = summary.found;
    record["added"] = summary.added;
    record["outdated"] = summary.outdated;
    record["interrupted"] = summary.signal != 0;
    record["outcomes"] = outcomes.value();
    std::cout << event::record_text(record);
  } else if (!flags.quiet) {
    std::cout << fmt::format("{}: {} of {} runs are in {} ({} found, {} added)\n", study.name,
                             summary.found + summary.added, summary.selected, summary.database, summary.found,
                             summary.added);
    for (const auto& [outcome, count] : outcomes.value()) std::cout << fmt::format("  {:<12} {}\n", outcome, count);
    print_outdated(summary.outdated);
    std::cout << (summary.signal != 0 ? "interrupted: the same command goes on from here\n"
                                      : "next: holdfast study report " + summary.database + "\n");
  }
  return summary.signal != 0 ? 128 + summary.signal : 0;
}

int coordinate(const StudyRunFlags& flags, const Study& study, const Share& share, Messages* messages,
               std::int64_t silence_ns) {
  Summary summary{database_of(flags, share)};
  auto opened = Database::open_to_write(summary.database, study);
  if (!opened.ok()) return complain(opened.status());
  Database& database = opened.value();
  auto finished = database.keys();
  if (!finished.ok()) return complain(finished.status());
  auto outdated = database.outdated();
  if (!outdated.ok()) return complain(outdated.status());
  summary.outdated = std::move(outdated).value();
  const std::vector<std::size_t> todo = select(study, flags, share, summary.selected, finished.value());
  summary.found = summary.selected - todo.size();
  const simulate::study::PoolEnd end = run_points(study, todo, {flags.workers, flags.quiet, silence_ns, messages},
                                                  summary.found, database, summary.added);
  if (!end.status.ok()) return complain(end.status);
  summary.signal = end.signal;
  return print_summary(flags, study, database, summary);
}

Result<std::unique_ptr<Study>> read_study(const std::string& path) {
  const Result<std::string> text = input::read_text_file(path, "the study");
  if (!text.ok()) return text.status();
  const Result<std::string> kind = simulate::study::kind_of(text.value(), path);
  if (!kind.ok()) return kind.status();
  return kind.value() == "prediction" ? simulate::predict::read_prediction_study(text.value(), path)
                                      : simulate::study::read_any_study(text.value(), path);
}

int run(const StudyRunFlags& flags) {
  auto share = read_share(flags.share);
  if (!share.ok()) return complain(share.status());
  auto silence = read_duration("--silence", flags.silence, one_second_ns, one_day_ns);
  if (!silence.ok()) return complain(silence.status());
  auto study = read_study(flags.file);
  if (!study.ok()) return complain(study.status());
  if (Status status = check_groups(*study.value(), flags); !status.ok()) return complain(status);
  return run_in_job(*study.value(), silence.value(), [&](Messages* messages) {
    return coordinate(flags, *study.value(), share.value(), messages, silence.value());
  });
}

struct MergeFlags {
  std::string into;
  std::vector<std::string> from;
};

int merge(const MergeFlags& flags) {
  std::vector<Database> sources;
  for (const std::string& path : flags.from) {
    if (Status status = input::check_file(path, "the database"); !status.ok()) return complain(status);
    auto opened = Database::open_to_read(path);
    if (!opened.ok()) return complain(opened.status());
    sources.push_back(std::move(opened).value());
  }
  auto study = sources.front().study();
  if (!study.ok()) return complain(study.status());
  auto target = Database::open_to_write(flags.into, *study.value());
  if (!target.ok()) return complain(target.status());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::size_t added = 0;
    if (Status status = target.value().take_over(sources[i], added); !status.ok()) return complain(status);
    std::cout << fmt::format("{}: {} runs added\n", flags.from[i], added);
  }
  auto outcomes = count_outcomes(target.value());
  if (!outcomes.ok()) return complain(outcomes.status());
  for (const auto& [outcome, count] : outcomes.value()) std::cout << fmt::format("  {:<12} {}\n", outcome, count);
  auto outdated = target.value().outdated();
  if (!outdated.ok()) return complain(outdated.status());
  print_outdated(outdated.value());
  return 0;
}

struct ReportFlags {
  std::string database;
  std::string html, csv, plots;
  bool json = false;
};

Status write_plots(const std::string& folder, const simulate::study::StudyRecord& record) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  Status status;
  for (const auto& [name, svg] : report::study_plots(record))
    if (status.ok()) status = output::write_file(folder + "/" + name + ".svg", svg);
  return status;
}

int report_predictions(const ReportFlags& flags, const Database& database) {
  if (!flags.plots.empty())
    return complain({Code::bad_input, "reporting " + flags.database, "predictions have no plots of their own",
                     "take --html, which has them"});
  auto study = database.study();
  if (!study.ok()) return complain(study.status());
  auto records = simulate::predict::draw_together(*study.value(), database);
  if (!records.ok()) return complain(records.status());
  Status status;
  if (!flags.html.empty()) status = output::write_file(flags.html, report::predictions_html(records.value()));
  if (status.ok() && !flags.csv.empty())
    status = output::write_file(flags.csv, report::predictions_csv(records.value()));
  if (!status.ok()) return complain(status);
  if (flags.json)
    std::cout << event::record_text(report::predictions_json(records.value()));
  else if (flags.html.empty() && flags.csv.empty())
    std::cout << report::predictions_text(records.value());
  return 0;
}

int report_on(const ReportFlags& flags) {
  if (Status status = input::check_file(flags.database, "the database"); !status.ok()) return complain(status);
  auto database = Database::open_to_read(flags.database);
  if (!database.ok()) return complain(database.status());
  if (database.value().about().kind == "prediction") return report_predictions(flags, database.value());
  auto record = simulate::study::analyse(database.value());
  if (!record.ok()) return complain(record.status());
  Status status;
  if (!flags.html.empty()) status = output::write_file(flags.html, report::study_html(record.value()));
  if (status.ok() && !flags.csv.empty()) status = output::write_file(flags.csv, report::study_csv(record.value()));
  if (status.ok() && !flags.plots.empty()) status = write_plots(flags.plots, record.value());
  if (!status.ok()) return complain(status);
  if (flags.json)
    std::cout << event::record_text(report::study_json(record.value()));
  else if (flags.html.empty() && flags.csv.empty() && flags.plots.empty())
    std::cout << report::study_text(record.value());
  return 0;
}

void add_report_command(CLI::App& study, Action& action) {
  CLI::App* command = study.add_subcommand("report", "What a study found: tables, lines, crossings, advice, plots");
  auto flags = std::make_shared<ReportFlags>();
  command->add_option("database", flags->database, "What 'study run' wrote, finished or not")
      ->required()
      ->type_name("DATABASE");
  command->add_option("--html", flags->html, "Write one page with plots, which needs no network")->type_name("FILE");
  command->add_option("--csv", flags->csv, "Write a row an engine and scenario")->type_name("FILE");
  command->add_option("--plots", flags->plots, "Write every plot as an SVG file into this folder")->type_name("FOLDER");
  command->add_flag("--json", flags->json, "Print a record");
  command->footer(
      "Without an option the tables are printed. Throughput is the total at all hosts; lines are least squares on the\n"
      "number of failed links and switches. For anything else the database has views, a column a figure:\n\n"
      "  holdfast study report fail-in-place-small.sqlite --html small.html\n"
      "  sqlite3 fail-in-place-small.sqlite 'select engine, avg(throughput_bytes_per_s) from throughput group by 1'\n");
  command->callback([flags, &action] { action = [flags] { return report_on(*flags); }; });
}

void add_run_command(CLI::App& study, Action& action) {
  CLI::App* command = study.add_subcommand("run", "Run what a study file declares, on all cores, or go on with it");
  auto flags = std::make_shared<StudyRunFlags>();
  command->add_option("file", flags->file, "The study, in TOML (docs/spec/study.md)")->required()->type_name("FILE");
  command->add_option("-d,--database", flags->database, "Where runs are kept. Default: NAME.sqlite here")
      ->type_name("FILE");
  command->add_option("--group", flags->groups, "Only the points of this group; may be repeated")->type_name("NAME");
  command->add_option("--share", flags->share, "Only part K of N, into NAME.share-K-of-N.sqlite, for job arrays")
      ->type_name("K/N");
  add_pool_flags(*command, flags->workers, flags->silence);
  command->add_flag("--json", flags->json, "Print a record in place of the summary");
  command->add_flag("-q,--quiet", flags->quiet, "No progress and no summary");
  command->footer(
      "Finished runs are kept: after Ctrl-C, a crash or an edit of the file the same command runs what is missing.\n"
      "A routing engine that refuses, incomplete tables and deadlocks are results. Across machines it is an MPI "
      "program:\n"
      "all ranks read the file, rank 0 hands out runs and is the only one that opens the database. A rank may die "
      "where\n"
      "the launcher lets the others live, or the same command goes on:\n\n"
      "  holdfast study run studies/fail-in-place-small.toml\n"
      "  mpirun -n 64 --enable-recovery holdfast study run studies/fail-in-place-large.toml\n"
      "  srun -n 64 --mpi=pmix --no-kill --kill-on-bad-exit=0 holdfast study run studies/fail-in-place-large.toml\n"
      "  holdfast study run big.toml --share $SLURM_ARRAY_TASK_ID/16       in a job array from 1 to 16; then\n"
      "  holdfast study merge big.sqlite big.share-*.sqlite\n");
  command->callback([flags, &action] { action = [flags] { return run(*flags); }; });
}

void add_merge_command(CLI::App& study, Action& action) {
  CLI::App* command = study.add_subcommand("merge", "Put the shares of one study into one database");
  auto flags = std::make_shared<MergeFlags>();
  command->add_option("into", flags->into, "The database to write; made if need be")->required()->type_name("INTO");
  command->add_option("from", flags->from, "Databases of the same study")->required()->type_name("FROM");
  command->callback([flags, &action] { action = [flags] { return merge(*flags); }; });
}

}  // namespace

void add_study(CLI::App& app, Action& action) {
  CLI::App* study = app.add_subcommand("study", "Run many simulations over topologies, engines, failures and seeds");
  study->require_subcommand(1);
  add_run_command(*study, action);
  add_report_command(*study, action);
  add_merge_command(*study, action);
}

}  // namespace holdfast::cli
