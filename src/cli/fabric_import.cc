#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/fabric_subcommands.h"
#include "core/event/record.h"
#include "fabric/formats/discovery.h"
#include "fabric/formats/export.h"
#include "fabric/formats/forwarding_tables.h"
#include "fabric/formats/source.h"
#include "fabric/topology/summary.h"

namespace holdfast::cli {
namespace {

struct ImportFlags {
  std::string source;
  fabric::TableFiles tables;
  std::string output;
  bool json = false;
  bool strict = false;
};

/// Entries that lead somewhere, of all that there could be.
std::pair<std::uint64_t, std::uint64_t> filled(const fabric::Fabric& fabric, const fabric::Forwarding& tables) {
  std::vector<bool> used(tables.lids());
  for (const fabric::Port& port : fabric.ports()) {
    for (fabric::Lid lid = port.lid; port.lid != 0 && lid < port.lid + (fabric::Lid{1} << port.lmc); ++lid)
      used[lid] = true;
  }
  std::uint64_t there = 0;
  std::uint64_t all = 0;
  for (std::uint32_t row = 0; row < tables.rows(); ++row) {
    for (fabric::Lid lid = 1; lid < tables.lids(); ++lid) {
      all += used[lid] ? 1 : 0;
      there += used[lid] && tables.out_port(row, lid) != fabric::Forwarding::no_port ? 1 : 0;
    }
  }
  return {there, all};
}

int import_fabric(const ImportFlags& flags) {
  if (Status status = check_table_flags(flags.tables); !status.ok()) return complain(status);
  Result<fabric::Imported> opened = fabric::open_fabric(flags.source);
  if (!opened.ok()) return complain(opened.status());
  const fabric::Fabric& fabric = opened.value().fabric;
  std::optional<fabric::ImportedTables> tables;
  if (!flags.tables.forwarding.empty()) {
    Result<fabric::ImportedTables> read = fabric::open_tables(fabric, flags.tables);
    if (!read.ok()) return complain(read.status());
    tables = std::move(read).value();
  }
  std::vector<std::string> notes = opened.value().notes;
  if (tables) notes.insert(notes.end(), tables->notes.begin(), tables->notes.end());
  if (flags.strict && !notes.empty())
    return complain(
        {Code::bad_input, "importing " + flags.source,
         std::to_string(notes.size()) + (notes.size() == 1 ? " note" : " notes") + ", the first: " + notes[0],
         "mend the files, or leave --strict out"});
  if (!flags.output.empty()) {
    if (Status status = fabric::write_text_file(flags.output, fabric::write_discovery(fabric)); !status.ok())
      return complain(status);
  }
  const fabric::Summary summary = fabric::summarize(fabric);
  if (flags.json) {
    nlohmann::ordered_json record = event::make_record("holdfast.fabric.import", 1);
    fabric::add_summary(record, fabric, summary);
    if (tables) {
      const auto [there, all] = filled(fabric, tables->forwarding);
      record["tables"] = {
          {"entries", there}, {"entries_of_full_tables", all}, {"lanes", tables->forwarding.lanes_used}};
    }
    record["notes"] = notes;
    std::cout << event::record_text(record);
    return 0;
  }
  std::cout << fabric::summary_text(fabric, summary);
  if (tables) {
    const auto [there, all] = filled(fabric, tables->forwarding);
    std::cout << fmt::format("{:<14}{} of {} entries, {} lanes\n", "tables", there, all, tables->forwarding.lanes_used);
  }
  for (const std::string& note : notes) std::cout << "note          " << note << "\n";
  return 0;
}

}  // namespace

void add_fabric_import(CLI::App& fabric, Action& action) {
  CLI::App* command =
      fabric.add_subcommand("import", "Read a fabric and its tables, and say what is odd about the files");
  auto flags = std::make_shared<ImportFlags>();
  add_fabric_argument(*command, flags->source);
  add_table_flags(*command, flags->tables);
  command->add_option("-o,--output", flags->output, "Write the fabric as ibnetdiscover would")->type_name("FILE");
  command->add_flag("--strict", flags->strict, "Refuse files in which anything is odd");
  command->add_flag("--json", flags->json, "Print a JSON record");
  command->footer(
      "Examples:\n  ibnetdiscover > cluster && dump_lfts > tables\n  holdfast fabric import cluster --tables tables\n"
      "  holdfast fabric import opensm-subnet.lst -o cluster\n");
  command->callback([flags, &action] { action = [flags] { return import_fabric(*flags); }; });
}

}  // namespace holdfast::cli
