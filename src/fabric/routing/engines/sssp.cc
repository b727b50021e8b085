#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"

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
  return lay_shortest_paths(fabric, graph, options.threads).tables;
}

}  // namespace holdfast::fabric
