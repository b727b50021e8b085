#include <iostream>

#include "cli/fabric_subcommands.h"
#include "cli/waiting_line.h"
#include "core/input/text_file.h"
#include "fabric/formats/opensm_config.h"
#include "fabric/formats/source.h"
#include "fabric/routing/engines/torus_placement.h"

namespace holdfast::cli {
namespace {

/// The list: one row a subcommand, in the order of the help.
constexpr std::initializer_list<void (*)(CLI::App& fabric, Action& action)> subcommands = {
    add_fabric_generate, add_fabric_import, add_fabric_export,  add_fabric_show, add_fabric_fail,
    add_fabric_route,    add_fabric_check,  add_fabric_compare, add_fabric_diff,
};

constexpr const char* fabric_footer =
    "A FABRIC is a file (the output of ibnetdiscover, an ibsim net, opensm-subnet.lst) or a topology, as\n"
    "'torus(5,5) links=6 hosts=275', or a preset, as 10-ary-3-tree (holdfast fabric generate --list).\n\n"
    "Examples:\n"
    "  holdfast fabric show cluster.ibnetdiscover\n"
    "  holdfast fabric generate 'dragonfly(4,2,2,9)' -o net\n"
    "  holdfast fabric fail 10-ary-3-tree --faults 'fail-link share 1%' --seed 7 -o degraded\n"
    "  holdfast fabric diff healthy.ibnetdiscover today.ibnetdiscover\n";

}  // namespace

Result<fabric::Imported> open_fabric_with_notes(const std::string& source) {
  Result<fabric::Imported> opened = Status();
  {
    const WaitingLine line("opening the fabric " + source);
    opened = fabric::open_fabric(source);
  }
  if (opened.ok()) {
    for (const std::string& note : opened.value().notes) std::cerr << "holdfast: note: " << note << "\n";
  }
  return opened;
}

void add_fabric_argument(CLI::App& command, std::string& source) {
  command.add_option("fabric", source, "A file, or a topology such as 'torus(5,5) links=6'")
      ->required()
      ->type_name("FABRIC");
}

void add_table_flags(CLI::App& command, fabric::TableFiles& files) {
  command
      .add_option("--tables", files.forwarding, "Forwarding tables: dump_lfts, ibroute, opensm-lfts.dump, opensm.fdbs")
      ->type_name("FILE");
  command.add_option("--sl2vl", files.lanes, "SL to VL tables: opensm-sl2vl.dump")->type_name("FILE");
  command.add_option("--path-records", files.path_records, "Path records: the output of saquery -p")->type_name("FILE");
}

Status check_table_flags(const fabric::TableFiles& files) {
  if (!files.forwarding.empty() || (files.lanes.empty() && files.path_records.empty())) return {};
  return {Code::bad_input, "reading the command line", "--sl2vl and --path-records belong to --tables",
          "give the forwarding tables too"};
}

void add_torus_config(CLI::App& command, std::string& file) {
  command
      .add_option("--torus-config", file,
                  "Where the switches of a torus or mesh lie, as torus-2QoS.conf says it. Default: found in the cables")
      ->type_name("FILE");
}

Status read_torus_rules(const std::string& file, const fabric::Fabric& network, fabric::ContestRules& rules) {
  if (file.empty()) return {};
  auto text = input::read_text_file(file);
  if (!text.ok()) return text.status();
  auto config = fabric::read_torus_config(text.value(), file, network);
  if (!config.ok()) return config.status();
  auto grid = fabric::place_on_torus(network, fabric::SwitchGraph(network), config.value());
  // OpenSM reads the file itself, so that what we cannot place does not stop it.
  if (grid.ok())
    rules.grid = std::move(grid.value());
  else
    rules.grid_refusal = grid.status().message();
  rules.torus_config = std::move(text.value());
  return {};
}

void add_fabric(CLI::App& app, Action& action) {
  CLI::App* fabric = app.add_subcommand("fabric", "Build, import, break, route and check InfiniBand networks");
  fabric->require_subcommand(1);
  fabric->footer(fabric_footer);
  for (auto add : subcommands) add(*fabric, action);
}

}  // namespace holdfast::cli
