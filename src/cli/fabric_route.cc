#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/fabric_subcommands.h"
#include "cli/numbers.h"
#include "cli/waiting_line.h"
#include "core/event/record.h"
#include "core/fault/grammar.h"
#include "core/input/text_file.h"
#include "core/status/exit_code.h"
#include "fabric/check/lost_routes.h"
#include "fabric/compare/health.h"
#include "fabric/compare/live_failure.h"
#include "fabric/faults/failures.h"
#include "fabric/formats/export.h"
#include "fabric/formats/forwarding_tables.h"
#include "fabric/formats/opensm_config.h"

namespace holdfast::cli {
namespace {

struct RouteFlags {
  std::string fabric;
  std::string engine;
  std::string out;
  std::string sl2vl;
  std::string paths;
  std::vector<std::string> roots;
  std::string root_guids;
  std::string torus_config;
  unsigned lanes = 8;
  unsigned threads = 0;
  std::vector<std::string> faults;
  std::uint64_t seed = 1;
  std::string time_limit = "10min";
  std::string lost_routes;
  unsigned seeds = 100;
  bool json = false;
};

std::string engine_help() {
  std::string text = "Engines:\n";
  for (const fabric::Engine& engine : fabric::engines()) {
    text += "  " + std::string(engine.name) + std::string(12 - engine.name.size(), ' ') + std::string(engine.summary) +
            " (" + std::string(engine.source) + ")\n";
  }
  return text +
         "  opensm:NAME the real OpenSM with that engine of its own, on the real ibsim\n"
         "\nTables are written as OpenSM's opensm-lfts.dump, which 'opensm -R file -U FILE' loads. With --faults, "
         "links "
         "fail after\nthe fabric has been routed: with opensm:NAME in the running ibsim, through its console. The "
         "reroute "
         "is measured and\njudged, and the files are what it left.\n\n"
         "Ends with 0 when every pair has a route and no credit loop was found, 1 when not, 2 when the engine "
         "refuses,\n124 when OpenSM took longer than --time-limit.\n\n"
         "Examples:\n"
         "  holdfast fabric route 14-ary-3-tree --engine ftree --out lfts\n"
         "  holdfast fabric route cluster.ibnetdiscover --engine dfsssp --json\n"
         "  holdfast fabric route 10-ary-3-tree --engine opensm:dfsssp --faults 'fail-link share 0.05%'\n"
         "  holdfast fabric route 10-ary-3-tree --engine ftree --lost-routes links\n";
}

/// The links that the faults of the command line take down, in the order of ids.
Result<std::vector<fabric::LinkId>> failing_links(const fabric::Fabric& network, const RouteFlags& flags) {
  std::string text;
  for (const std::string& fault : flags.faults) text += fault + "\n";
  Result<std::vector<fault::Fault>> faults = fault::parse(text, "--faults");
  if (!faults.ok()) return faults.status();
  fabric::FailureRules rules;
  rules.seed = flags.seed;
  fabric::Fabric broken = network;
  if (auto failed = fabric::fail(broken, faults.value(), rules); !failed.ok()) return failed.status();
  std::vector<fabric::LinkId> links;
  for (fabric::LinkId link = 0; link < network.links().size(); ++link)
    if (network.link(link).up && !broken.link(link).up) links.push_back(link);
  return links;
}

/// Why there are no tables, as an error with its exit code.
int complain_of(const fabric::Contender& engine, const fabric::Routing& routing) {
  const std::string doing = "routing with " + engine.label();
  if (routing.verdict == fabric::opensm::Verdict::timed_out) {
    complain({Code::unavailable, doing, routing.reason, "give a longer --time-limit"});
    return static_cast<int>(Exit::time_limit);
  }
  const bool refused = routing.verdict == fabric::opensm::Verdict::refused;
  return complain({refused ? Code::bad_input : Code::unavailable, doing, routing.reason,
                   refused ? "try another engine: holdfast fabric compare" : "see whether opensm is whole"});
}

Status write_tables(const RouteFlags& flags, const fabric::Fabric& network, const fabric::Forwarding& tables) {
  Status status;
  if (!flags.out.empty()) status = fabric::write_text_file(flags.out, fabric::write_lfts(network, tables));
  if (status.ok() && !flags.sl2vl.empty())
    status = fabric::write_text_file(flags.sl2vl, fabric::write_sl2vl(network, tables));
  if (status.ok() && !flags.paths.empty())
    status = fabric::write_text_file(flags.paths, fabric::write_path_records(network, tables));
  return status;
}

Status read_roots(const RouteFlags& flags, const fabric::Fabric& network, std::vector<fabric::NodeId>& roots) {
  for (const std::string& name : flags.roots) {
    const fabric::NodeId root = network.find(name);
    if (root == fabric::none)
      return {Code::bad_input, "reading --root", "the fabric has no node '" + name + "'", "name switches"};
    roots.push_back(root);
  }
  if (flags.root_guids.empty()) return {};
  auto text = input::read_text_file(flags.root_guids);
  if (!text.ok()) return text.status();
  auto listed = fabric::read_root_guids(text.value(), flags.root_guids, network);
  if (!listed.ok()) return listed.status();
  if (listed.value().empty())
    return {Code::bad_input, "reading " + flags.root_guids, "it lists no GUID",
            "write one a line, as OpenSM's -a takes them"};
  roots.insert(roots.end(), listed.value().begin(), listed.value().end());
  return {};
}

struct Report {
  nlohmann::ordered_json record;
  std::string text;
  bool good = true;
};

Report report_of(const fabric::Contender& engine, const fabric::Fabric& network, const fabric::Routing& routing,
                 const RouteFlags& flags) {
  fabric::RoutingHealth health = fabric::examine_tables(network, routing.forwarding, flags.threads);
  health.engine = engine.label();
  Report report{fabric::routing_record(health), fabric::routing_text(health), health.good()};
  report.record["routing_wall_ns"] = routing.routing_wall_ns;
  report.record["routing_cpu_ns"] = routing.routing_cpu_ns;
  if (flags.lost_routes.empty()) return report;
  const auto what = flags.lost_routes == "links" ? fabric::Failing::links : fabric::Failing::switches;
  const auto counts = fabric::count_lost_routes(network, routing.forwarding, what, {1, 2, 3, 4, 5, 10, 20, 50, 100},
                                                flags.seeds, 1, flags.threads);
  report.record["lost_routes_of_failed_" + flags.lost_routes] = fabric::lost_routes_json(counts);
  report.text += "\nRoutes cut until rerouted, over " + std::to_string(flags.seeds) + " seeds\n" +
                 fabric::lost_routes_text(counts, what);
  return report;
}

void report_failure(const fabric::LiveFailure& failure, const RouteFlags& flags, Report& report) {
  fabric::RoutingHealth health =
      fabric::examine_tables(failure.degraded, failure.after->routing.forwarding, flags.threads);
  report.good = health.good();
  nlohmann::ordered_json json = fabric::live_failure_json(failure);
  json["after"] = fabric::routing_record(health);
  json["after"].erase("record");
  json["after"].erase("version");
  report.record["failure"] = std::move(json);
  report.text +=
      "\nThen links failed\n" + fabric::live_failure_text(failure) + "\nAfterwards\n" + fabric::routing_text(health);
}

int route(const RouteFlags& flags) {
  auto contenders = fabric::parse_contenders(flags.engine);
  if (!contenders.ok()) return complain(contenders.status());
  if (contenders.value().size() != 1)
    return complain(
        {Code::bad_input, "reading --engine", "it names several engines", "name one, or use holdfast fabric compare"});
  const fabric::Contender engine = contenders.value().front();
  auto limit = read_duration("--time-limit", flags.time_limit, 1, ten_years_ns);
  if (!limit.ok()) return complain(limit.status());
  auto opened = open_fabric_with_notes(flags.fabric);
  if (!opened.ok()) return complain(opened.status());
  const fabric::Fabric& network = opened.value().fabric;
  fabric::ContestRules rules;
  rules.lanes = static_cast<std::uint8_t>(flags.lanes);
  rules.threads = flags.threads;
  rules.time_limit_ns = limit.value();
  if (Status status = read_roots(flags, network, rules.roots); !status.ok()) return complain(status);
  if (Status status = read_torus_rules(flags.torus_config, network, rules); !status.ok()) return complain(status);
  auto links = failing_links(network, flags);
  if (!links.ok()) return complain(links.status());
  if (!flags.faults.empty() && links.value().empty())
    return complain({Code::bad_input, "reading --faults", "no link fails by it", "give a larger share, or name links"});

  if (links.value().empty()) {
    Result<fabric::Routing> routing = Status();
    {
      const WaitingLine line("routing with " + engine.label());
      routing = fabric::run(engine, network, rules);
    }
    if (!routing.ok()) return complain(routing.status());
    if (routing.value().verdict != fabric::opensm::Verdict::routed) return complain_of(engine, routing.value());
    if (Status status = write_tables(flags, network, routing.value().forwarding); !status.ok()) return complain(status);
    auto line = std::make_unique<WaitingLine>("judging the tables");
    const Report report = report_of(engine, network, routing.value(), flags);
    line.reset();
    std::cout << (flags.json ? event::record_text(report.record) : report.text);
    return report.good ? 0 : answer_is_no;
  }
  auto failure = fabric::fail_live(engine, network, links.value(), rules);
  if (!failure.ok()) return complain(failure.status());
  for (const fabric::Routing* routing :
       {&failure.value().before, failure.value().after ? &failure.value().after->routing : nullptr})
    if (routing != nullptr && routing->verdict != fabric::opensm::Verdict::routed) return complain_of(engine, *routing);
  if (Status status = write_tables(flags, failure.value().degraded, failure.value().after->routing.forwarding);
      !status.ok())
    return complain(status);
  Report report = report_of(engine, network, failure.value().before, flags);
  report_failure(failure.value(), flags, report);
  std::cout << (flags.json ? event::record_text(report.record) : report.text);
  return report.good ? 0 : answer_is_no;
}

}  // namespace

void add_fabric_route(CLI::App& fabric, Action& action) {
  CLI::App* command = fabric.add_subcommand("route", "Compute forwarding tables, and judge them");
  auto flags = std::make_shared<RouteFlags>();
  command->footer(engine_help());
  add_fabric_argument(*command, flags->fabric);
  command->add_option("--engine", flags->engine, "Which one (below)")->required()->type_name("NAME");
  command->add_option("-o,--out,--output", flags->out, "Write the forwarding tables here")->type_name("FILE");
  command->add_option("--sl2vl", flags->sl2vl, "Write the SL to VL tables here")->type_name("FILE");
  command->add_option("--path-records,--paths", flags->paths, "Write a path record for every pair here")
      ->type_name("FILE");
  command
      ->add_option("--root", flags->roots,
                   "A switch on top (updn, ftree, dmodc), or at the bottom (dnup); may be repeated")
      ->type_name("SWITCH");
  command->add_option("--root-guids", flags->root_guids, "The same, from a file of GUIDs, as for OpenSM's -a")
      ->type_name("FILE");
  add_torus_config(*command, flags->torus_config);
  command->add_option("--lanes", flags->lanes, "Virtual lanes for data. Default: 8")
      ->type_name("N")
      ->check(whole_number(1, 15));
  command
      ->add_option("--faults", flags->faults,
                   "What fails once the fabric is routed, as 'fail-link link s-0-0/5'; may be given again")
      ->type_name("FAULTS")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--seed", flags->seed, "Which random failures. Default: 1")
      ->type_name("N")
      ->check(whole_number());
  command->add_option("--time-limit", flags->time_limit, "CPU time of each sweep of OpenSM. Default: 10min")
      ->type_name("DURATION");
  command->add_option("--threads", flags->threads, "Default: all of the machine")
      ->type_name("N")
      ->check(whole_number(0, most_workers));
  command
      ->add_option("--lost-routes", flags->lost_routes,
                   "Count the routes that failures cut until rerouted: links or switches")
      ->type_name("KIND")
      ->check(CLI::IsMember({"links", "switches"}));
  command->add_option("--seeds", flags->seeds, "Draws for each number of failures. Default: 100")
      ->type_name("N")
      ->check(whole_number(1, 10'000));
  command->add_flag("--json", flags->json, "Print a record instead of text");
  command->callback([flags, &action] { action = [flags] { return route(*flags); }; });
}

}  // namespace holdfast::cli
