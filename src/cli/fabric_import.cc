#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/fabric_subcommands.h"
#include "core/event/record.h"
#include "fabric/formats/discovery.h"
#include "fabric/formats/export.h"
#include "fabric/formats/forwarding_tables.h"
#include "fabric/formats/source.h"
#include "fabric/topology/summary.h"

namespace holdfast::cli {
namespace {

struct Flags {
  std::string source;
  std::string tables;
  std::string lanes;
  std::string paths;
  std::string output;
  bool json = false;
};

/// Reads the tables that were named. Nothing when there are none.
Result<std::optional<fabric::ImportedTables>> read_tables(const Flags& flags, const fabric::Fabric& fabric) {
  std::optional<fabric::ImportedTables> tables;
  if (flags.tables.empty()) return tables;
  Result<std::string> text = fabric::read_text_file(flags.tables);
  if (!text.ok()) return text.status();
  Result<fabric::ImportedTables> read = fabric::read_forwarding(text.value(), flags.tables, fabric);
  if (!read.ok()) return read.status();
  tables = std::move(read).value();
  const std::pair<const std::string*, decltype(&fabric::read_sl2vl)> further[] = {
      {&flags.lanes, fabric::read_sl2vl}, {&flags.paths, fabric::read_path_records}};
  for (const auto& [file, reader] : further) {
    if (file->empty()) continue;
    text = fabric::read_text_file(*file);
    if (!text.ok()) return text.status();
    if (Status status = reader(text.value(), *file, fabric, *tables); !status.ok()) return status;
  }
  fabric::settle_lanes(fabric, tables->forwarding);
  return tables;
}

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

int import_fabric(const Flags& flags) {
  if (flags.tables.empty() && (!flags.lanes.empty() || !flags.paths.empty()))
    return complain({Code::bad_input, "reading the command line", "--sl2vl and --path-records belong to --tables",
                     "give the forwarding tables too"});
  Result<fabric::Imported> opened = fabric::open_fabric(flags.source);
  if (!opened.ok()) return complain(opened.status());
  const fabric::Fabric& fabric = opened.value().fabric;
  Result<std::optional<fabric::ImportedTables>> tables = read_tables(flags, fabric);
  if (!tables.ok()) return complain(tables.status());
  if (!flags.output.empty()) {
    if (Status status = fabric::write_text_file(flags.output, fabric::write_discovery(fabric)); !status.ok())
      return complain(status);
  }
  std::vector<std::string> notes = opened.value().notes;
  if (tables.value()) notes.insert(notes.end(), tables.value()->notes.begin(), tables.value()->notes.end());
  const fabric::Summary summary = fabric::summarize(fabric);
  if (flags.json) {
    nlohmann::ordered_json record = event::make_record("holdfast.fabric.import", 1);
    fabric::add_summary(record, fabric, summary);
    if (tables.value()) {
      const auto [there, all] = filled(fabric, tables.value()->forwarding);
      record["tables"] = {
          {"entries", there}, {"entries_of_full_tables", all}, {"lanes", tables.value()->forwarding.lanes_used}};
    }
    record["notes"] = notes;
    std::cout << event::record_text(record);
    return 0;
  }
  std::cout << fabric::summary_text(fabric, summary);
  if (tables.value()) {
    const auto [there, all] = filled(fabric, tables.value()->forwarding);
    std::cout << fmt::format("{:<14}{} of {} entries, {} lanes\n", "tables", there, all,
                             tables.value()->forwarding.lanes_used);
  }
  for (const std::string& note : notes) std::cout << "note          " << note << "\n";
  return 0;
}

}  // namespace

void add_fabric_import(CLI::App& fabric, Action& action) {
  CLI::App* command =
      fabric.add_subcommand("import", "Read a fabric and its tables, and say what is odd about the files");
  auto flags = std::make_shared<Flags>();
  add_fabric_argument(*command, flags->source);
  command->add_option("--tables", flags->tables, "Forwarding tables: dump_lfts, ibroute, opensm-lfts.dump, opensm.fdbs")
      ->type_name("FILE");
  command->add_option("--sl2vl", flags->lanes, "SL to VL tables: opensm-sl2vl.dump")->type_name("FILE");
  command->add_option("--path-records", flags->paths, "Path records: the output of saquery -p")->type_name("FILE");
  command->add_option("-o,--output", flags->output, "Write the fabric as ibnetdiscover would")->type_name("FILE");
  command->add_flag("--json", flags->json, "Print a JSON record");
  command->footer(
      "Examples:\n  ibnetdiscover > cluster && dump_lfts > tables\n  holdfast fabric import cluster --tables tables\n"
      "  holdfast fabric import opensm-subnet.lst -o cluster\n");
  command->callback([flags, &action] { action = [flags] { return import_fabric(*flags); }; });
}

}  // namespace holdfast::cli
