#include "fabric/formats/export.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <vector>

#include "core/output/output_file.h"
#include "core/status/hint.h"
#include "fabric/formats/discovery.h"
#include "fabric/formats/drawing.h"
#include "fabric/formats/forwarding_tables.h"
#include "fabric/formats/graph_files.h"
#include "fabric/formats/ibsim_net.h"
#include "fabric/formats/opensm_config.h"
#include "fabric/formats/slurm_topology.h"
#include "fabric/formats/subnet_list.h"
#include "fabric/topology/levels.h"

namespace holdfast::fabric {

namespace {

template <std::string (*write)(const Fabric&)>
Result<std::string> always(const Fabric& fabric) {
  return write(fabric);
}

Result<std::string> root_guids(const Fabric& fabric) {
  const std::vector<NodeId> roots = tree_roots(fabric);
  if (roots.empty())
    return Status(Code::bad_input, "writing the root GUIDs", "the fabric is no tree", "only a tree has root switches");
  return write_root_guids(fabric, roots);
}

Result<std::string> torus_config(const Fabric& fabric) {
  Result<TorusConfig> config = torus_config_of(fabric);
  if (!config.ok()) return config.status();
  return write_torus_config(fabric, config.value());
}

constexpr std::array<ExportFormat, 9> rows{{
    {"ibnetdiscover", "as ibnetdiscover prints a fabric", always<write_discovery>},
    {"ibsim", "net file of ibsim", always<write_ibsim_net>},
    {"subnet-lst", "OpenSM's opensm-subnet.lst", always<write_subnet_list>},
    {"dot", "Graphviz", always<write_dot>},
    {"graphml", "GraphML", always<write_graphml>},
    {"svg", "a drawing", always<write_drawing>},
    {"slurm", "Slurm's topology.conf", write_slurm_topology},
    {"root-guids", "GUIDs of a tree's root switches, for OpenSM's -a", root_guids},
    {"torus-2qos", "torus-2QoS.conf of a mesh or torus", torus_config},
}};

constexpr std::array<TableFormat, 4> table_rows{{
    {"lfts", "forwarding tables, for OpenSM's -R file -U FILE", write_lfts},
    {"fdbs", "forwarding tables with hops, as ibdmchk reads them", write_fdbs},
    {"sl2vl", "SL to VL tables, as OpenSM dumps them", write_sl2vl},
    {"path-records", "service levels of all pairs, as saquery -p prints them", write_path_records},
}};

}  // namespace

std::span<const TableFormat> table_formats() {
  return table_rows;
}

const TableFormat* find_table_format(std::string_view name) {
  const auto found = std::ranges::find(table_rows, name, &TableFormat::name);
  return found == table_rows.end() ? nullptr : &*found;
}

std::span<const ExportFormat> export_formats() {
  return rows;
}

Result<std::string> write_fabric(const Fabric& fabric, std::string_view format) {
  const auto found = std::ranges::find(rows, format, &ExportFormat::name);
  if (found != rows.end()) return found->write(fabric);
  std::vector<std::string_view> names;
  for (const ExportFormat& row : rows) names.push_back(row.name);
  for (const TableFormat& row : table_rows) names.push_back(row.name);
  return Status(Code::bad_input, "writing the fabric", "there is no format '" + std::string(format) + "'",
                did_you_mean(format, names, "see holdfast fabric export --help"));
}

Status write_text_file(const std::string& path, std::string_view text) {
  if (!path.empty() && path != "-") return output::write_file(path, text);
  std::cout << text;
  return {};
}

}  // namespace holdfast::fabric
