#include "fabric/formats/source.h"

#include <filesystem>
#include <utility>

#include "core/input/text_file.h"
#include "fabric/formats/discovery.h"
#include "fabric/formats/forwarding_tables.h"
#include "fabric/formats/ports_report.h"
#include "fabric/formats/subnet_list.h"
#include "fabric/topology/generate.h"

namespace holdfast::fabric {

Result<Imported> read_fabric(std::string_view text, std::string_view name) {
  if (is_subnet_list(text)) return read_subnet_list(text, name);
  if (is_ports_report(text)) return read_ports_report(text, name);
  return read_discovery(text, name);
}

Result<ImportedTables> open_tables(const Fabric& fabric, const TableFiles& files) {
  Result<std::string> text = input::read_text_file(files.forwarding);
  if (!text.ok()) return text.status();
  Result<ImportedTables> tables = read_forwarding(text.value(), files.forwarding, fabric);
  if (!tables.ok()) return tables;
  const std::pair<const std::string*, decltype(&read_sl2vl)> further[] = {{&files.lanes, read_sl2vl},
                                                                          {&files.path_records, read_path_records}};
  for (const auto& [file, reader] : further) {
    if (file->empty()) continue;
    text = input::read_text_file(*file);
    if (!text.ok()) return text.status();
    if (Status status = reader(text.value(), *file, fabric, tables.value()); !status.ok()) return status;
  }
  settle_lanes(fabric, tables.value().forwarding);
  return tables;
}

Result<Imported> open_fabric(const std::string& source) {
  std::error_code unknown;
  if (!std::filesystem::exists(source, unknown) && looks_like_topology(source)) {
    Result<Fabric> made = generate(source);
    if (!made.ok()) return made.status();
    return Imported{std::move(made).value(), {}};
  }
  Result<std::string> text = input::read_text_file(source);
  if (!text.ok()) {
    if (text.status().code() != Code::not_found) return text.status();
    return Status(Code::not_found, "opening the fabric '" + source + "'", "there is no such file",
                  "give a file, or a topology such as 'torus(5,5)'");
  }
  return read_fabric(text.value(), source);
}

}  // namespace holdfast::fabric
