#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/fabric_subcommands.h"
#include "cli/numbers.h"
#include "cli/waiting_line.h"
#include "core/event/record.h"
#include "core/input/text_file.h"
#include "fabric/compare/health.h"
#include "fabric/formats/forwarding_tables.h"
#include "fabric/formats/source.h"

namespace holdfast::cli {
namespace {

constexpr const char* check_footer =
    "Says how many hosts, switches and links work, which links came up slower or narrower than their ports can, what "
    "is\n"
    "missing against the healthy fabric (--healthy), whether today's tables (--tables) have credit loops or lose "
    "pairs,\n"
    "and what each routing engine would give.\n\n"
    "Ends with 0 when there is nothing to repair and with 1 when there is, for a nightly check.\n\n"
    "Examples:\n"
    "  holdfast fabric check cluster.ibnetdiscover\n"
    "  holdfast fabric check cluster.ibnetdiscover --tables opensm-lfts.dump --healthy last-year.ibnetdiscover\n"
    "  holdfast fabric check 'torus(5,5) links=6 hosts=275' --engines updn,dfsssp,nue --json\n";

struct CheckFlags {
  std::string fabric;
  std::string tables;
  std::string sl2vl;
  std::string paths;
  std::string healthy;
  std::vector<std::string> engines;
  unsigned lanes = 8;
  unsigned threads = 0;
  bool json = false;
};

Result<fabric::ImportedTables> read_tables(const CheckFlags& flags, const fabric::Fabric& network) {
  auto text = input::read_text_file(flags.tables);
  if (!text.ok()) return text.status();
  auto tables = fabric::read_forwarding(text.value(), flags.tables, network);
  if (!tables.ok()) return tables.status();
  if (!flags.sl2vl.empty()) {
    text = input::read_text_file(flags.sl2vl);
    if (!text.ok()) return text.status();
    Status status = fabric::read_sl2vl(text.value(), flags.sl2vl, network, tables.value());
    if (!status.ok()) return status;
  }
  if (!flags.paths.empty()) {
    text = input::read_text_file(flags.paths);
    if (!text.ok()) return text.status();
    Status status = fabric::read_path_records(text.value(), flags.paths, network, tables.value());
    if (!status.ok()) return status;
  }
  fabric::settle_lanes(network, tables.value().forwarding);
  return tables;
}

void tell(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::cerr << "holdfast: note: " << note << "\n";
}

int check(const CheckFlags& flags) {
  auto opened = open_fabric_with_notes(flags.fabric);
  if (!opened.ok()) return complain(opened.status());
  const fabric::Fabric& network = opened.value().fabric;
  fabric::HealthOptions options;
  options.engine.lanes = flags.lanes;
  options.engine.threads = flags.threads;
  for (const std::string& name : flags.engines) {
    if (const auto engine = fabric::find_engine(name); !engine.ok()) return complain(engine.status());
  }
  options.engines = flags.engines;
  if (options.engines.empty()) {
    for (const fabric::Engine& engine : fabric::engines()) options.engines.emplace_back(engine.name);
  }
  std::optional<fabric::Imported> healthy;
  if (!flags.healthy.empty()) {
    auto other = fabric::open_fabric(flags.healthy);
    if (!other.ok()) return complain(other.status());
    healthy = std::move(other).value();
    options.healthy = &healthy->fabric;
  }
  std::optional<fabric::ImportedTables> tables;
  if (!flags.tables.empty()) {
    auto read = read_tables(flags, network);
    if (!read.ok()) return complain(read.status());
    tables = std::move(read).value();
    tell(tables->notes);
    options.tables = &tables->forwarding;
  }
  auto line = std::make_unique<WaitingLine>("examining the fabric");
  const fabric::Health health = fabric::examine(network, options);
  line.reset();
  std::cout << (flags.json ? event::record_text(fabric::health_record(health)) : fabric::health_text(health));
  return health.good() ? 0 : answer_is_no;
}

}  // namespace

void add_fabric_check(CLI::App& fabric, Action& action) {
  CLI::App* command = fabric.add_subcommand("check", "Tell how bad a fabric is, and what another engine would give");
  auto flags = std::make_shared<CheckFlags>();
  command->footer(check_footer);
  command->add_option("fabric", flags->fabric, "A file, or a topology")->required()->type_name("FABRIC");
  CLI::Option* tables = command->add_option("--tables", flags->tables, "Today's forwarding tables (opensm-lfts.dump)");
  tables->type_name("FILE");
  command->add_option("--sl2vl", flags->sl2vl, "Today's SL to VL tables (opensm-sl2vl.dump)")
      ->type_name("FILE")
      ->needs(tables);
  command->add_option("--path-records,--paths", flags->paths, "Today's path records (saquery -p)")
      ->type_name("FILE")
      ->needs(tables);
  command->add_option("--healthy", flags->healthy, "The same fabric as it should be")->type_name("FABRIC");
  command->add_option("--engines", flags->engines, "Which to look at, separated by commas. Default: all")
      ->type_name("NAMES")
      ->delimiter(',');
  command->add_option("--lanes", flags->lanes, "Virtual lanes for data. Default: 8")
      ->type_name("N")
      ->check(whole_number(1, 15));
  command->add_option("--threads", flags->threads, "Default: all of the machine")
      ->type_name("N")
      ->check(whole_number(0, most_workers));
  command->add_flag("--json", flags->json, "Print a record instead of text");
  command->callback([flags, &action] { action = [flags] { return check(*flags); }; });
}

}  // namespace holdfast::cli
