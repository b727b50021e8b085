#include <memory>

#include "cli/fabric_subcommands.h"
#include "fabric/formats/export.h"

namespace holdfast::cli {
namespace {

struct ExportFlags {
  std::string source;
  std::string format;
  std::string output;
  fabric::TableFiles tables;
};

Result<std::string> write(const fabric::Fabric& fabric, const ExportFlags& flags) {
  const fabric::TableFormat* format = fabric::find_table_format(flags.format);
  if (format == nullptr) return fabric::write_fabric(fabric, flags.format);
  if (flags.tables.forwarding.empty())
    return Status(Code::bad_input, "writing " + flags.format, "no forwarding tables are given", "add --tables FILE");
  Result<fabric::ImportedTables> tables = fabric::open_tables(fabric, flags.tables);
  if (!tables.ok()) return tables.status();
  return format->write(fabric, tables.value().forwarding);
}

int export_fabric(const ExportFlags& flags) {
  if (Status status = check_table_flags(flags.tables); !status.ok()) return complain(status);
  Result<fabric::Imported> opened = open_fabric_with_notes(flags.source);
  if (!opened.ok()) return complain(opened.status());
  Result<std::string> text = write(opened.value().fabric, flags);
  if (!text.ok()) return complain(text.status());
  if (Status status = fabric::write_text_file(flags.output, text.value()); !status.ok()) return complain(status);
  return 0;
}

std::string formats_help() {
  std::string text = "Formats:\n";
  for (const fabric::ExportFormat& row : fabric::export_formats())
    text += "  " + std::string(row.name) + std::string(16 - row.name.size(), ' ') + std::string(row.doc) + "\n";
  text += "Formats of tables (--tables):\n";
  for (const fabric::TableFormat& row : fabric::table_formats())
    text += "  " + std::string(row.name) + std::string(16 - row.name.size(), ' ') + std::string(row.doc) + "\n";
  return text +
         "\nExamples:\n  holdfast fabric export cluster.ibnetdiscover --to ibsim -o net\n"
         "  holdfast fabric export cluster.ibnetdiscover --to slurm -o topology.conf\n"
         "  holdfast fabric export 10-ary-3-tree --to root-guids | tee roots\n";
}

}  // namespace

void add_fabric_export(CLI::App& fabric, Action& action) {
  CLI::App* command = fabric.add_subcommand("export", "Write a fabric in another program's format");
  auto flags = std::make_shared<ExportFlags>();
  add_fabric_argument(*command, flags->source);
  command->add_option("--to", flags->format, "The format; see below")->required()->type_name("FORMAT");
  command->add_option("-o,--output", flags->output, "Write here instead of standard output")->type_name("FILE");
  add_table_flags(*command, flags->tables);
  command->footer(formats_help());
  command->callback([flags, &action] { action = [flags] { return export_fabric(*flags); }; });
}

}  // namespace holdfast::cli
