#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"
#include "fabric/routing/engines/up_down_tables.h"

namespace holdfast::fabric {

EvenTables lay_shortest_paths(const Fabric& fabric, const SwitchGraph& graph, unsigned threads) {
  EvenTables laid;
  laid.largest_load =
      lay_evenly(
          fabric, graph, MinimalRule(graph), threads, [](std::uint32_t, const Choices&) { return true; }, laid.tables)
          .value_or(0);
  return laid;
}

Result<Forwarding> route_sssp(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  Forwarding tables = lay_shortest_paths(fabric, graph, options.threads).tables;
  know_if_up_down(graph, tables, options.threads);
  return tables;
}

}  // namespace holdfast::fabric
