#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/status/status.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// What a fabric can be written as. One row a format.
struct ExportFormat {
  std::string_view name;
  std::string_view doc;
  Result<std::string> (*write)(const Fabric& fabric);
};
std::span<const ExportFormat> export_formats();

/// The fabric in the format of this name. Errors (bad_input): no such format, with a hint; a fabric that the format
/// cannot say.
Result<std::string> write_fabric(const Fabric& fabric, std::string_view format);

/// What tables can be written as. One row a format.
struct TableFormat {
  std::string_view name;
  std::string_view doc;
  std::string (*write)(const Fabric& fabric, const Forwarding& tables);
};
std::span<const TableFormat> table_formats();
const TableFormat* find_table_format(std::string_view name);

/// Writes a text to a file, or to standard output when the path is empty or "-". Error: io.
Status write_text_file(const std::string& path, std::string_view text);

}  // namespace holdfast::fabric
