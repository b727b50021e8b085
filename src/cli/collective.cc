#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/numbers.h"
#include "cli/progress_line.h"
#include "cli/subcommands.h"
#include "core/event/record.h"
#include "core/output/output_file.h"
#include "simulate/collective/study.h"

namespace holdfast::cli {
namespace {

using simulate::collective::Study;
using simulate::collective::StudyRow;

struct StudyFlags {
  std::string file;
  std::string json;
  std::string csv;
  std::vector<std::string> groups;
  unsigned threads = 0;
};

void print_rows(const std::vector<StudyRow>& rows) {
  using namespace simulate::collective;
  std::cout << fmt::format("{:<18} {:<4} {:<15} {:>6} {:<15} {:<12} {:>9} {:<9} {:<10}  {:>21}  {:>21}\n", "group",
                           "set", "protection", "bytes", "case", "errors", "mean", "strikes", "reach", "root ns",
                           "last host ns");
  for (const StudyRow& row : rows) {
    const SamplePlan& plan = row.point.plan;
    const auto half = [](const Measured& m) { return (m.interval_ns.high - m.interval_ns.low) / 2; };
    std::cout << fmt::format(
        "{:<18} {:<4} {:<15} {:>6} {:<15} {:<12} {:>9} {:<9} {:<10}  {:>11.1f} ± {:<7.1f}  {:>11.1f} ± {:<7.1f}{}\n",
        row.point.group, row.point.assumptions, describe(plan.experiment.scheme), plan.experiment.bytes,
        named_case_names[static_cast<std::size_t>(plan.named)],
        error_source_names[static_cast<std::size_t>(plan.errors.source)], plan.errors.mean_ps / simulate::ps_per_ns,
        strikes_names[static_cast<std::size_t>(plan.errors.strikes)],
        reach_names[static_cast<std::size_t>(plan.errors.reach)], row.sample.root.mean_ns, half(row.sample.root),
        row.sample.last_host.mean_ns, half(row.sample.last_host),
        row.sample.wrong + row.sample.incomplete > 0 ? "  (some wrong or given up)" : "");
  }
}

int run_study(const StudyFlags& flags) {
  auto study = simulate::collective::read_study_file(flags.file);
  if (!study.ok()) return complain(study.status());
  for (const std::string& path : {flags.json, flags.csv})
    if (Status status = path.empty() ? Status() : output::check_file(path); !status.ok()) return complain(status);
  if (!flags.groups.empty()) {
    std::erase_if(study.value().points, [&](const simulate::collective::StudyPoint& point) {
      return std::find(flags.groups.begin(), flags.groups.end(), point.group) == flags.groups.end();
    });
    if (study.value().points.empty()) {
      return complain({Code::bad_input, "choosing groups of " + flags.file, "no point belongs to the groups named",
                       "see the names in the file"});
    }
  }
  const std::size_t points = study.value().points.size();
  ProgressLine line(true);
  const auto progress = [&](std::size_t done) { line.draw(fmt::format("{} of {} points", done, points)); };
  auto rows = simulate::collective::run_study(study.value(), flags.threads, progress);
  line.clear();
  if (!rows.ok()) return complain(rows.status());
  if (!flags.json.empty()) {
    const auto record = simulate::collective::study_record(study.value(), rows.value());
    if (Status status = event::write_record_file(flags.json, record); !status.ok()) return complain(status);
  }
  if (!flags.csv.empty()) {
    const std::string table = simulate::collective::study_csv(rows.value());
    if (Status status = output::write_file(flags.csv, table); !status.ok()) return complain(status);
  }
  if (flags.json.empty() && flags.csv.empty()) print_rows(rows.value());
  return 0;
}

}  // namespace

void add_collective(CLI::App& app, Action& action) {
  CLI::App* collective = app.add_subcommand("collective", "Simulate collectives in the network under soft errors");
  collective->require_subcommand(1);
  collective->footer(
      "Examples:\n"
      "  holdfast collective study studies/fabric-collectives.toml --group figure-3\n"
      "  holdfast collective study studies/fabric-collectives.toml --json results.json --csv results.csv\n");
  CLI::App* study = collective->add_subcommand(
      "study", "Run the points of a study file on all cores and print their times, or write them to files");
  auto flags = std::make_shared<StudyFlags>();
  study->add_option("file", flags->file, "The study, in TOML")->required()->type_name("FILE");
  study->add_option("--group", flags->groups, "Only the points of this group; may be repeated")->type_name("NAME");
  study->add_option("--json", flags->json, "Write the rows as a JSON record")->type_name("FILE");
  study->add_option("--csv", flags->csv, "Write the rows as CSV")->type_name("FILE");
  study->add_option("--threads", flags->threads, "Threads; 0: one a core")
      ->check(whole_number(0, most_workers))
      ->capture_default_str();
  study->callback([flags, &action] { action = [flags] { return run_study(*flags); }; });
}

}  // namespace holdfast::cli
