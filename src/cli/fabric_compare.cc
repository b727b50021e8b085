#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/fabric_subcommands.h"
#include "cli/numbers.h"
#include "cli/progress_line.h"
#include "core/event/record.h"
#include "fabric/compare/comparison.h"
#include "fabric/compare/paper_tables.h"
#include "fabric/compare/renumbered.h"
#include "fabric/formats/source.h"

namespace holdfast::cli {
namespace {

constexpr const char* compare_footer =
    "ENGINES is a list such as updn,opensm:updn. An engine of ours has its bare name; opensm:NAME starts the real\n"
    "OpenSM on the real ibsim. 'native', 'opensm' and 'all' stand for every one.\n\n"
    "The columns: pairs of adapters that cables connect and tables do not; credit loops (strongly connected parts of\n"
    "the channel dependency graph: traffic exists that deadlocks); virtual lanes in use, and in parentheses how many\n"
    "would do (the others are for throughput); links between switches on the longest path and on the mean one; edge\n"
    "forwarding index (routes over the fullest link direction) and the standard deviation over all of them; CPU time\n"
    "of the engine alone.\n\n"
    "With --renumber K each engine is judged on K copies of the fabric in which nodes are listed and switches' ports\n"
    "numbered at random (LIDs follow that order): medians with the least and the largest, of the fullest link, how "
    "far\n"
    "its largest is above its least, and what adapters get of their cables in an exchange and over random "
    "bisections.\n\n"
    "Examples:\n"
    "  holdfast fabric compare 'torus(5,5) links=6 hosts=275'\n"
    "  holdfast fabric compare 14-ary-3-tree --engines ftree,opensm:ftree,dfsssp,opensm:dfsssp\n"
    "  holdfast fabric compare 16-ary-2-tree --engines dfsssp,opensm:dfsssp --renumber 50\n"
    "  holdfast fabric compare --paper-tables --small\n";

struct CompareFlags {
  std::string fabric;
  std::string engines = "native";
  std::string time_limit = "10min";
  std::string torus_config;
  unsigned lanes = 8;
  unsigned jobs = 0;
  unsigned renumber = 0;
  std::uint64_t seed = 1;
  bool paper_tables = false;
  bool small = false;
  bool json = false;
  bool quiet = false;
};

fabric::Progress progress_on(ProgressLine& line) {
  return [&line](const fabric::Judged& judged, std::size_t done, std::size_t all) {
    line.draw(
        fmt::format("{}/{} {}: {}", done, all, judged.contender.label(), fabric::opensm::name(judged.routing.verdict)));
  };
}

int paper_tables(const CompareFlags& flags, const fabric::ContestRules& rules) {
  std::vector<std::string_view> names = fabric::small_configurations();
  if (!flags.small)
    for (const std::string_view name : fabric::large_configurations()) names.push_back(name);
  ProgressLine line(!flags.quiet);
  const auto progress = [&line](std::string_view preset, const fabric::Judged& judged) {
    line.draw(fmt::format("{} {}: {}", preset, judged.contender.label(), fabric::opensm::name(judged.routing.verdict)));
  };
  auto rows = fabric::run_paper_tables(names, rules, flags.jobs, progress);
  line.clear();
  if (!rows.ok()) return complain(rows.status());
  std::cout << (flags.json ? event::record_text(fabric::paper_tables_record(rows.value()))
                           : fabric::paper_tables_markdown(rows.value()));
  return 0;
}

int compare_renumbered(const CompareFlags& flags, const fabric::Fabric& network,
                       const std::vector<fabric::Contender>& contenders, const fabric::ContestRules& rules) {
  fabric::RenumberingRules renumberings;
  renumberings.count = flags.renumber;
  renumberings.seed = flags.seed;
  const std::size_t all = flags.renumber * contenders.size();
  std::size_t done = 0;
  ProgressLine line(!flags.quiet);
  const fabric::Progress show = progress_on(line);
  const auto progress = [&](const fabric::RenumberedRun& run) { show(run.judged, ++done, all); };
  auto engines = fabric::compare_renumbered(network, contenders, rules, renumberings, progress);
  line.clear();
  if (!engines.ok()) return complain(engines.status());
  std::cout << (flags.json ? event::record_text(fabric::renumbered_record(network, engines.value()))
                           : fabric::renumbered_text(engines.value()));
  return 0;
}

int compare(const CompareFlags& flags) {
  if (flags.paper_tables != flags.fabric.empty())
    return complain({Code::bad_input, "reading the command line",
                     flags.paper_tables ? "--paper-tables takes no FABRIC" : "FABRIC is missing",
                     "see holdfast fabric compare --help"});
  auto contenders = fabric::parse_contenders(flags.engines);
  if (!contenders.ok()) return complain(contenders.status());
  auto limit = read_duration("--time-limit", flags.time_limit, 1, ten_years_ns);
  if (!limit.ok()) return complain(limit.status());
  fabric::ContestRules rules;
  rules.lanes = static_cast<std::uint8_t>(flags.lanes);
  rules.time_limit_ns = limit.value();
  if (flags.paper_tables) return paper_tables(flags, rules);
  auto opened = fabric::open_fabric(flags.fabric);
  if (!opened.ok()) return complain(opened.status());
  const fabric::Fabric& network = opened.value().fabric;
  if (Status status = read_torus_rules(flags.torus_config, network, rules); !status.ok()) return complain(status);
  if (flags.renumber != 0) return compare_renumbered(flags, network, contenders.value(), rules);
  ProgressLine line(!flags.quiet);
  auto ranking = fabric::compare(network, contenders.value(), rules, flags.jobs, progress_on(line));
  line.clear();
  if (!ranking.ok()) return complain(ranking.status());
  if (flags.json)
    std::cout << event::record_text(fabric::comparison_record(network, ranking.value()));
  else
    std::cout << fabric::comparison_text(ranking.value());
  return 0;
}

}  // namespace

void add_fabric_compare(CLI::App& fabric, Action& action) {
  CLI::App* command = fabric.add_subcommand("compare", "Rank routing engines, ours and OpenSM's, on a fabric");
  auto flags = std::make_shared<CompareFlags>();
  command->footer(compare_footer);
  command->add_option("fabric", flags->fabric, "A file, or a topology")->type_name("FABRIC");
  command->add_option("--engines", flags->engines, "What to compare. Default: native")->type_name("ENGINES");
  add_torus_config(*command, flags->torus_config);
  command->add_option("--lanes", flags->lanes, "Virtual lanes of a port. Default: 8")
      ->type_name("N")
      ->check(whole_number(1, 8));
  command->add_option("--time-limit", flags->time_limit, "CPU time of each run of OpenSM. Default: 10min")
      ->type_name("DURATION");
  command->add_option("--jobs", flags->jobs, "Engines at a time. Default: one a processor")
      ->type_name("N")
      ->check(whole_number(0, most_workers));
  CLI::Option* renumber = command->add_option("--renumber", flags->renumber,
                                              "Judge each engine over so many random renumberings of the fabric");
  renumber->type_name("K")->check(whole_number(1, 10000));
  command->add_option("--seed", flags->seed, "Of the first renumbering. Default: 1")->type_name("N")->needs(renumber);
  command->add_flag(
      "--paper-tables", flags->paper_tables,
      "Instead of one FABRIC: every engine on every configuration of the fail-in-place paper's Table III");
  command->add_flag("--small", flags->small, "Of those, the ones of about 256 hosts alone");
  command->add_flag("--json", flags->json, "Print a record instead of a table");
  command->add_flag("-q,--quiet", flags->quiet, "No progress");
  command->callback([flags, &action] { action = [flags] { return compare(*flags); }; });
}

}  // namespace holdfast::cli
