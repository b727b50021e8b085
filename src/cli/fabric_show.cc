#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/fabric_subcommands.h"
#include "core/event/record.h"
#include "fabric/formats/drawing.h"
#include "fabric/formats/export.h"
#include "fabric/topology/summary.h"

namespace holdfast::cli {
namespace {

struct ShowFlags {
  std::string source;
  std::string drawing;
  bool json = false;
};

int show(const ShowFlags& flags) {
  Result<fabric::Imported> opened = open_fabric_with_notes(flags.source);
  if (!opened.ok()) return complain(opened.status());
  const fabric::Fabric& fabric = opened.value().fabric;
  const fabric::Summary summary = fabric::summarize(fabric);
  if (!flags.drawing.empty()) {
    if (Status status = fabric::write_text_file(flags.drawing, fabric::write_drawing(fabric)); !status.ok())
      return complain(status);
  }
  if (!flags.json) {
    std::cout << fabric::summary_text(fabric, summary);
    return 0;
  }
  nlohmann::ordered_json record = event::make_record("holdfast.fabric.show", 1);
  record["fabric"] = flags.source;
  fabric::add_summary(record, fabric, summary);
  record["notes"] = opened.value().notes;
  std::cout << event::record_text(record);
  return 0;
}

}  // namespace

void add_fabric_show(CLI::App& fabric, Action& action) {
  CLI::App* command = fabric.add_subcommand("show", "Summarise a fabric and draw it");
  auto flags = std::make_shared<ShowFlags>();
  add_fabric_argument(*command, flags->source);
  command->add_option("--svg", flags->drawing, "Draw the fabric to this file")->type_name("FILE");
  command->add_flag("--json", flags->json, "Print a JSON record");
  command->footer(
      "Examples:\n  holdfast fabric show cluster.ibnetdiscover --svg cluster.svg\n  holdfast fabric show deimos\n");
  command->callback([flags, &action] { action = [flags] { return show(*flags); }; });
}

}  // namespace holdfast::cli
