#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/fabric_subcommands.h"
#include "core/event/record.h"
#include "fabric/check/health.h"
#include "fabric/formats/forwarding_tables.h"
#include "fabric/formats/source.h"

namespace holdfast::cli {
namespace {

struct RouteFlags {
  std::string fabric;
  std::string engine;
  std::string out;
  std::string sl2vl;
  std::string paths;
  std::vector<std::string> roots;
  unsigned lanes = 8;
  unsigned threads = 0;
  bool json = false;
};

std::string engine_help() {
  std::string text = "Engines:\n";
  for (const fabric::Engine& engine : fabric::engines()) {
    text += "  " + std::string(engine.name) + std::string(12 - engine.name.size(), ' ') + std::string(engine.summary) +
            " (" + std::string(engine.source) + ")\n";
  }
  return text +
         "\nTables are written as OpenSM's opensm-lfts.dump, which 'opensm -R file -U FILE' loads.\n\n"
         "Ends with 0 when every pair has a route and no credit loop was found, 1 when not, 2 when the engine "
         "refuses.\n\n"
         "Examples:\n"
         "  holdfast fabric route 14-ary-3-tree --engine ftree --out lfts\n"
         "  holdfast fabric route cluster.ibnetdiscover --engine dfsssp --json\n";
}

Status write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return {};
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return {Code::io, "writing " + path, "the file could not be written", "check the folder and its free space"};
}

int route(const RouteFlags& flags) {
  auto opened = fabric::open_fabric(flags.fabric);
  if (!opened.ok()) return complain(opened.status());
  for (const std::string& note : opened.value().notes) std::cerr << "holdfast: " << note << "\n";
  const fabric::Fabric& network = opened.value().fabric;
  fabric::EngineOptions options;
  options.lanes = flags.lanes;
  options.threads = flags.threads;
  for (const std::string& name : flags.roots) {
    const fabric::NodeId root = network.find(name);
    if (root == fabric::none) {
      return complain({Code::bad_input, "reading --root", "the fabric has no node '" + name + "'", "name switches"});
    }
    options.roots.push_back(root);
  }
  const auto tables = fabric::route(network, flags.engine, options);
  if (!tables.ok()) return complain(tables.status());
  if (!flags.out.empty()) {
    if (Status status = write_file(flags.out, fabric::write_lfts(network, tables.value())); !status.ok()) {
      return complain(status);
    }
  }
  if (!flags.sl2vl.empty()) {
    if (Status status = write_file(flags.sl2vl, fabric::write_sl2vl(network, tables.value())); !status.ok()) {
      return complain(status);
    }
  }
  if (!flags.paths.empty()) {
    if (Status status = write_file(flags.paths, fabric::write_path_records(network, tables.value())); !status.ok()) {
      return complain(status);
    }
  }
  fabric::RoutingHealth routing = fabric::examine_tables(network, tables.value(), flags.threads);
  routing.engine = flags.engine;
  std::cout << (flags.json ? event::record_text(fabric::routing_record(routing)) : fabric::routing_text(routing));
  return routing.good() ? 0 : 1;
}

}  // namespace

void add_fabric_route(CLI::App& fabric, Action& action) {
  CLI::App* command = fabric.add_subcommand("route", "Compute forwarding tables, and judge them");
  auto flags = std::make_shared<RouteFlags>();
  command->footer(engine_help());
  command->add_option("fabric", flags->fabric, "A file, or a topology")->required()->type_name("FABRIC");
  command->add_option("--engine", flags->engine, "Which one (below)")->required()->type_name("NAME");
  command->add_option("--out", flags->out, "Write the forwarding tables here")->type_name("FILE");
  command->add_option("--sl2vl", flags->sl2vl, "Write the SL to VL tables here")->type_name("FILE");
  command->add_option("--paths", flags->paths, "Write a path record for every pair here")->type_name("FILE");
  command->add_option("--root", flags->roots, "A switch on top (updn, ftree), or at the bottom (dnup); may be repeated")
      ->type_name("SWITCH");
  command->add_option("--lanes", flags->lanes, "Virtual lanes for data. Default: 8")
      ->type_name("N")
      ->check(CLI::Range(1U, 15U));
  command->add_option("--threads", flags->threads, "Default: all of the machine")->type_name("N");
  command->add_flag("--json", flags->json, "Print a record instead of text");
  command->callback([flags, &action] { action = [flags] { return route(*flags); }; });
}

}  // namespace holdfast::cli
