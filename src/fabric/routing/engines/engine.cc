#include "fabric/routing/engines/engine.h"

#include <algorithm>
#include <array>

#include "core/status/hint.h"
#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/parx.h"
#include "fabric/routing/graph/canonical_order.h"

namespace holdfast::fabric {
namespace {

using Route = Result<Forwarding> (*)(const Fabric&, const SwitchGraph&, const EngineOptions&);

constexpr std::array engine_rows = {
    Engine{"minhop", true, false, true, "shortest paths, even at each switch", "OpenSM's default"},
    Engine{"updn", false, true, true, "up to common tops and down again; one lane",
           "Schroeder et al., Autonet, IEEE JSAC 9(8), 1991"},
    Engine{"dnup", false, true, true, "the same from below: adapters may hang on the top of a tree",
           "Schroeder et al., Autonet, IEEE JSAC 9(8), 1991"},
    Engine{"dor", true, false, true, "one dimension after the other; without deadlock on meshes",
           "Dally and Seitz, IEEE ToC C-36(5), 1987"},
    Engine{"ftree", false, true, false, "fat trees: free of contention for shifts where complete",
           "Zahavi et al., Concurrency and Computation 22(2), 2010"},
    Engine{"dmodc", false, true, false, "fat trees in closed form, whatever is missing; the fastest",
           "Gliksberg et al., HOTI 2019"},
    Engine{"lash", true, true, true, "shortest paths, each switch pair on a lane without cycles",
           "Skeie, Lysne, Theiss, IPDPS 2002"},
    Engine{"sssp", true, false, true, "shortest paths, balanced over the whole fabric",
           "Hoefler, Schneider, Lumsdaine, HOTI 2009"},
    Engine{"dfsssp", true, true, true, "sssp, with routes moved to lanes without cycles",
           "Domke, Hoefler, Nagel, IPDPS 2011"},
    Engine{"torus-2qos", false, true, false, "tori and meshes, also with failed links and one failed switch",
           "OpenSM's torus-2QoS(8)"},
    Engine{"nue", false, true, true, "paths found on the dependency graph, in any number of lanes",
           "Domke, Hoefler, Matsuoka, HPDC 2016"},
    Engine{"lnmp", false, true, true, "a layer a LID: shortest paths, and those of one hop more in other layers",
           "Blach et al., NSDI 2024"},
    Engine{"parx", false, true, false, "HyperX of two dimensions: each of four LIDs spares the cables of one half",
           "Domke et al., SC 2019"},
    Engine{"dragonfly", false, true, false, "Dragonfly and Dragonfly+: straight, and by another group for further LIDs",
           "Kim et al., ISCA 2008; Shpiner et al., HiPINEB 2017"},
};
constexpr std::array<Route, engine_rows.size()> functions = {
    route_minhop, route_updn,   route_dnup,       route_dor, route_ftree, route_dmodc, route_lash,
    route_sssp,   route_dfsssp, route_torus_2qos, route_nue, route_lnmp,  route_parx,  route_dragonfly,
};

Result<std::size_t> index_of(std::string_view name) {
  for (std::size_t i = 0; i < engine_rows.size(); ++i) {
    if (engine_rows[i].name == name) return i;
  }
  std::vector<std::string_view> names;
  std::string all;
  for (const Engine& engine : engine_rows) {
    names.push_back(engine.name);
    all += (all.empty() ? "" : ", ") + std::string(engine.name);
  }
  return Status(Code::bad_input, "choosing a routing engine", "there is no engine '" + std::string(name) + "'",
                did_you_mean(name, names, "there are " + all));
}

Status check_options(const Fabric& fabric, std::string_view engine, const EngineOptions& options) {
  const std::string doing = "routing with " + std::string(engine);
  if (options.lanes < 1 || options.lanes > 15) {
    return {Code::bad_input, doing, "there cannot be " + std::to_string(options.lanes) + " data lanes", "give 1 to 15"};
  }
  if (fabric.switch_count() == 0) return {Code::bad_input, doing, "the fabric has no switch", "give one that has"};
  if (fabric.top_lid() == 0) return {Code::bad_input, doing, "no port has a LID", "call assign_lids() first"};
  if (Status status = Forwarding::check_size(fabric, doing, "take a smaller network"); !status.ok()) return status;
  for (const NodeId root : options.roots) {
    if (root < fabric.nodes().size() && fabric.is_switch(root)) continue;
    return {Code::bad_input, doing, "node " + std::to_string(root) + " is given as a root and is not a switch",
            "name switches"};
  }
  return {};
}

/// Whether an engine goes by places on a grid, where there is one, so that its rule comes from the cables already. On
/// others its routes depend on numbers.
bool goes_by_coordinates(std::string_view engine) {
  return engine == "dor" || engine == "torus-2qos";
}

/// The options for renumber(fabric, numbers), with the grid that the fabric's generator told, which that forgets.
EngineOptions renumbered(EngineOptions options, const Fabric& fabric, const SwitchGraph& graph,
                         const Renumbering& numbers) {
  const Shape shape = fabric.structure().shape;
  if (!options.grid && (shape == Shape::mesh || shape == Shape::torus)) options.grid = find_grid(fabric, graph);
  if (options.roots.empty() && !options.grid) return options;
  std::vector<NodeId> new_of(numbers.nodes.size());
  for (NodeId node = 0; node < numbers.nodes.size(); ++node) new_of[numbers.nodes[node]] = node;
  for (NodeId& root : options.roots) root = new_of[root];
  if (!options.grid) return options;
  std::vector<std::uint32_t> row_of(fabric.nodes().size(), none);
  for (std::uint32_t row = 0; row < graph.rows(); ++row) row_of[graph.switch_at(row)] = row;
  std::vector<std::uint32_t> place;
  for (const NodeId old : numbers.nodes) {
    if (!fabric.is_switch(old)) continue;
    for (std::uint32_t i = 0; i < options.grid->dimensions(); ++i) place.push_back(options.grid->at(row_of[old], i));
  }
  options.grid->place = std::move(place);
  return options;
}

}  // namespace

std::span<const Engine> engines() {
  return engine_rows;
}

Result<Engine> find_engine(std::string_view name) {
  const auto found = index_of(name);
  if (!found.ok()) return found.status();
  return engine_rows[found.value()];
}

Result<Forwarding> route(const Fabric& fabric, std::string_view engine, const EngineOptions& options) {
  const auto found = index_of(engine);
  if (!found.ok()) return found.status();
  if (Status status = check_options(fabric, engine, options); !status.ok()) return status;
  const SwitchGraph graph(fabric);
  if (options.grid && options.grid->place.size() != std::size_t{graph.rows()} * options.grid->dimensions())
    return Status(Code::bad_input, "routing with " + std::string(engine), "the grid is not one of this fabric",
                  "give a place for each switch");
  if (goes_by_coordinates(engine)) return functions[found.value()](fabric, graph, options);
  const Renumbering numbers = canonical_renumbering(fabric, graph);
  const Fabric canonical = renumber(fabric, numbers);
  auto tables =
      functions[found.value()](canonical, SwitchGraph(canonical), renumbered(options, fabric, graph, numbers));
  if (!tables.ok()) return tables;
  return std::move(tables).value().numbered_as(fabric, numbers, options.threads);
}

}  // namespace holdfast::fabric
