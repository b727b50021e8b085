#include <algorithm>

#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"
#include "fabric/routing/engines/up_down_tables.h"

namespace holdfast::fabric {

EvenTables lay_shortest_paths(const Fabric& fabric, const SwitchGraph& graph, unsigned threads) {
  EvenTables laid;
  const auto any = [](std::uint32_t, const Choices&) { return true; };
  const auto loads = lay_evenly(fabric, graph, MinimalRule(graph), threads, any, laid.tables);
  if (loads && !loads->empty()) laid.largest_load = *std::max_element(loads->begin(), loads->end());
  return laid;
}

Result<Forwarding> route_sssp(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  Forwarding tables = lay_shortest_paths(fabric, graph, options.threads).tables;
  know_if_up_down(graph, tables, options.threads);
  return tables;
}

}  // namespace holdfast::fabric
