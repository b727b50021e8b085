#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/fabric_subcommands.h"
#include "cli/numbers.h"
#include "core/event/record.h"
#include "core/input/text_file.h"
#include "fabric/faults/failure_statistics.h"

namespace holdfast::cli {
namespace {

struct AgeingFlags {
  std::string log;
  double confidence = 0.95;
  std::uint64_t seed = 1;
  bool json = false;
};

int fit_log(const AgeingFlags& flags) {
  Result<std::string> text = input::read_text_file(flags.log, "the log of failures");
  if (!text.ok()) return complain(text.status());
  Result<fabric::FailureLog> log = fabric::parse_failure_log(text.value(), flags.log);
  if (!log.ok()) return complain(log.status());
  Result<fabric::FailureStatistics> statistics = fabric::summarise(log.value(), flags.confidence, flags.seed);
  if (!statistics.ok()) return complain(statistics.status());
  std::cout << (flags.json ? event::record_text(fabric::failure_statistics_record(statistics.value()))
                           : fabric::failure_statistics_text(statistics.value()));
  return 0;
}

}  // namespace

void add_fabric_ageing(CLI::App& fabric, Action& action) {
  CLI::App* command =
      fabric.add_subcommand("ageing", "Fit a log of failures: how often parts fail, with what Weibull shape");
  auto flags = std::make_shared<AgeingFlags>();
  command->add_option("log", flags->log, "Which parts failed and were repaired, and when (docs/spec/failure-log.md)")
      ->required()
      ->type_name("LOG");
  command->add_option("--confidence", flags->confidence, "Of the intervals. Default: 0.95")
      ->check(real_number(0.01, 0.9999))
      ->type_name("P");
  command->add_option("--seed", flags->seed, "Of the samples behind the goodness of fit. Default: 1")
      ->type_name("N")
      ->check(whole_number());
  command->add_flag("--json", flags->json, "Print a JSON record");
  command->footer(
      "What it prints last is an [ageing.NAME] for a study (docs/spec/study.md), which may also name the log "
      "itself.\n\n"
      "Examples:\n"
      "  holdfast fabric ageing failures.csv --confidence 0.9\n"
      "  holdfast fabric ageing failures.csv --json > failures.json\n");
  command->callback([flags, &action] { action = [flags] { return fit_log(*flags); }; });
}

}  // namespace holdfast::cli
