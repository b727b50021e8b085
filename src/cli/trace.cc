#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/subcommands.h"
#include "core/event/record.h"
#include "core/output/output_file.h"
#include "core/status/exit_code.h"
#include "record/goal.h"
#include "record/import/dumpi.h"
#include "record/matching.h"
#include "record/matrix_picture.h"
#include "record/rank_files.h"
#include "record/trace.h"
#include "record/trace_record.h"

namespace holdfast::cli {
namespace {

constexpr const char* trace_footer =
    "Examples:\n"
    "  holdfast run -n 4 --record job.trace -- ./app\n"
    "  holdfast trace show job.trace\n"
    "  holdfast trace show job.trace --matrix matrix.svg --json totals.json\n"
    "  holdfast trace check job.trace\n"
    "  holdfast trace convert job.trace job.goal\n"
    "  holdfast trace convert dumpi-texts job.trace\n\n"
    "A trace is a folder with a file for each rank (docs/spec/recorded-trace.md). Of a damaged one, what is intact is\n"
    "used, and a line says what is not. Exit code of check: 1 when something is missing, damaged or does not match.\n"
    "A folder of texts that 'dumpi2ascii -a' made, one of each rank, becomes such a trace.\n";

struct TraceFlags {
  std::string trace;
  std::string matrix;
  std::string json;
  std::string to;
};

struct Opened {
  record::Trace trace;
  std::vector<record::RankTotals> ranks;
};

Result<Opened> open_totals(const std::string& folder) {
  std::map<std::uint64_t, record::RankTotals> by_rank;
  auto trace = record::read_trace(folder, [&](std::uint64_t rank) -> record::Visitor& { return by_rank[rank]; });
  if (!trace.ok()) return trace.status();
  Opened opened{std::move(trace).value(), {}};
  opened.ranks.resize(opened.trace.ranks);
  for (auto& [rank, totals] : by_rank) opened.ranks[rank] = std::move(totals);
  return opened;
}

/// One line says that something is wrong, and where it begins; check lists all.
void note_wrong(const record::Trace& trace) {
  if (trace.wrong.empty()) return;
  std::cerr << "holdfast: note: " << trace.wrong.front();
  if (trace.wrong.size() > 1) std::cerr << " (and " << trace.wrong.size() - 1 << " more)";
  std::cerr << ": what is intact is used; 'holdfast trace check' says more\n";
}

int show(const TraceFlags& flags) {
  const auto opened = open_totals(flags.trace);
  if (!opened.ok()) return complain(opened.status());
  const auto& [trace, ranks] = opened.value();
  note_wrong(trace);
  if (flags.json != "-") std::cout << record::totals_text(trace, ranks);
  if (!flags.matrix.empty()) {
    const Status written = output::write_file(flags.matrix, record::matrix_picture(ranks));
    if (!written.ok()) return complain(written);
  }
  if (flags.json.empty()) return 0;
  if (flags.json == "-") {
    std::cout << event::record_text(record::totals_json(trace, ranks));
    return 0;
  }
  const Status written = event::write_record_file(flags.json, record::totals_json(trace, ranks));
  return written.ok() ? 0 : complain(written);
}

int check(const TraceFlags& flags) {
  const auto opened = open_totals(flags.trace);
  if (!opened.ok()) return complain(opened.status());
  const auto& [trace, ranks] = opened.value();
  std::vector<bool> whole;
  for (const record::RankFile& file : trace.files) whole.push_back(file.whole());
  std::vector<std::string> wrong = trace.wrong;
  for (std::string& line : record::mismatches(ranks, whole)) wrong.push_back(std::move(line));
  for (const std::string& line : wrong) std::cout << line << "\n";
  if (wrong.empty())
    std::cout << "all good: " << trace.ranks << " ranks, " << trace.calls << " calls, " << trace.bytes << " bytes\n";
  return wrong.empty() ? 0 : static_cast<int>(Exit::application);
}

bool is_recording(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(folder + "/" + record::rank_file_name(0), error) ||
         (std::filesystem::is_directory(folder, error) && record::may_be_recorded_to(folder));
}

int import(const TraceFlags& flags) {
  const auto imported = record::import_dumpi(flags.trace, flags.to);
  if (!imported.ok()) return complain(imported.status());
  constexpr std::size_t most_notes = 8;
  const std::vector<std::string>& notes = imported.value().notes;
  for (std::size_t i = 0; i < std::min(notes.size(), most_notes); ++i)
    std::cerr << "holdfast: note: " << notes[i] << "\n";
  if (notes.size() > most_notes) std::cerr << "holdfast: note: and " << notes.size() - most_notes << " more\n";
  return 0;
}

int convert(const TraceFlags& flags) {
  std::error_code error;
  if (std::filesystem::is_directory(flags.trace, error) && !is_recording(flags.trace)) return import(flags);
  auto converted = record::to_goal(flags.trace);
  if (!converted.ok()) return complain(converted.status());
  note_wrong(converted.value().trace);
  const Status written = output::write_file(flags.to, converted.value().text);
  return written.ok() ? 0 : complain(written);
}

CLI::App* add_one(CLI::App& trace, Action& action, const char* name, const char* doc,
                  const std::shared_ptr<TraceFlags>& flags, int (*act)(const TraceFlags&)) {
  CLI::App* command = trace.add_subcommand(name, doc);
  command->add_option("TRACE", flags->trace, "The folder of a recording")->required()->type_name("");
  command->callback([flags, act, &action] { action = [flags, act] { return act(*flags); }; });
  return command;
}

}  // namespace

void add_trace(CLI::App& app, Action& action) {
  CLI::App* trace = app.add_subcommand("trace", "Look at what 'holdfast run --record' recorded, check and convert it");
  trace->require_subcommand(1);
  trace->footer(trace_footer);
  auto flags = std::make_shared<TraceFlags>();
  CLI::App* shows = add_one(*trace, action, "show", "Totals by rank and by function", flags, show);
  shows->add_option("--matrix", flags->matrix, "Write who sent how much to whom to this file, as an SVG picture")
      ->type_name("FILE");
  shows->add_option("--json", flags->json, "Write the totals to this file; - for the standard output")
      ->type_name("FILE");
  add_one(*trace, action, "check", "Whether it is whole, and what was sent was received", flags, check);
  CLI::App* converts = add_one(*trace, action, "convert",
                               "Write it as a GOAL schedule, or make one of a trace of DUMPI", flags, convert);
  converts->add_option("TO", flags->to, "The file, as job.goal; of a trace of DUMPI the folder of the recording")
      ->required()
      ->type_name("");
}

}  // namespace holdfast::cli
