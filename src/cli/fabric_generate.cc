#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/fabric_subcommands.h"
#include "cli/waiting_line.h"
#include "core/event/record.h"
#include "fabric/formats/export.h"
#include "fabric/topology/closed_form.h"
#include "fabric/topology/generate.h"
#include "fabric/topology/presets.h"
#include "fabric/topology/summary.h"

namespace holdfast::cli {
namespace {

struct GenerateFlags {
  std::string topology;
  std::string format = "ibnetdiscover";
  std::string output;
  bool list = false;
  bool json = false;
};

int list_topologies() {
  for (const fabric::FamilyRow& row : fabric::families())
    std::cout << fmt::format("  {}{}\n      {}\n", row.name, row.arguments, row.doc);
  std::cout
      << "\nOptions behind a topology: links=R hosts=N hosts-per-switch=N ports=N seed=N rate=4xQDR host-rate=2xHDR\n"
         "length=7m placement=spread|packed|random lmc=N planes=N\n\nPresets (switches, hosts, links between "
         "switches):\n";
  for (const fabric::Preset& preset : fabric::presets())
    std::cout << fmt::format("  {:<20} {:>4} {:>5} {:>6}  {}\n", preset.name, preset.switches, preset.hosts,
                             preset.links, preset.notation);
  return 0;
}

int print_record(const fabric::Topology& topology, const fabric::Fabric& made) {
  nlohmann::ordered_json record = event::make_record("holdfast.fabric.generate", 1);
  record["topology"] = fabric::format(topology);
  fabric::add_summary(record, made, fabric::summarize(made));
  if (const auto form = fabric::closed_form(topology)) {
    nlohmann::ordered_json formulas = {
        {"switches", form->switches}, {"hosts", form->hosts}, {"switch_links", form->links}};
    if (form->diameter) formulas["diameter"] = *form->diameter;
    if (form->vertex_connectivity) formulas["vertex_connectivity"] = *form->vertex_connectivity;
    if (form->edge_connectivity) formulas["edge_connectivity"] = *form->edge_connectivity;
    record["closed_form"] = formulas;
  }
  std::cout << event::record_text(record);
  return 0;
}

int generate(const GenerateFlags& flags) {
  if (flags.list) return list_topologies();
  if (flags.topology.empty())
    return complain(
        {Code::bad_input, "reading the command line", "no topology is given", "as 'torus(5,5)', or --list"});
  Result<fabric::Topology> topology = fabric::parse_topology(flags.topology);
  if (!topology.ok()) return complain(topology.status());
  auto line = std::make_unique<WaitingLine>("generating " + flags.topology);
  Result<fabric::Fabric> made = fabric::generate(topology.value());
  if (!made.ok()) line.reset();
  if (!made.ok()) return complain(made.status());
  if (flags.json && flags.output.empty()) {
    line.reset();
    return print_record(topology.value(), made.value());
  }
  Result<std::string> text = fabric::write_fabric(made.value(), flags.format);
  line.reset();
  if (!text.ok()) return complain(text.status());
  if (Status status = fabric::write_text_file(flags.output, text.value()); !status.ok()) return complain(status);
  return flags.json ? print_record(topology.value(), made.value()) : 0;
}

}  // namespace

void add_fabric_generate(CLI::App& fabric, Action& action) {
  CLI::App* command = fabric.add_subcommand("generate", "Build a network and write it as a file");
  auto flags = std::make_shared<GenerateFlags>();
  command->add_option("topology", flags->topology, "As 'torus(5,5) links=6 hosts=275', or a preset")
      ->type_name("TOPOLOGY");
  command->add_option("--to", flags->format, "Format, as for export. Default: ibnetdiscover")->type_name("FORMAT");
  command->add_option("-o,--output", flags->output, "Write here instead of standard output")->type_name("FILE");
  command->add_flag("--list", flags->list, "List what can be generated");
  command->add_flag("--json", flags->json, "Print a JSON record of the network; the file needs -o then");
  command->footer(
      "Examples:\n  holdfast fabric generate --list\n  holdfast fabric generate 'xgft(3;24,12,6;1,12,6)' -o tree\n"
      "  holdfast fabric generate torus-5x5 --to ibsim -o net && ibsim -s net\n"
      "  holdfast fabric generate 'random(32,16) hosts=256 seed=7' --to svg -o random.svg\n");
  command->callback([flags, &action] { action = [flags] { return generate(*flags); }; });
}

}  // namespace holdfast::cli
