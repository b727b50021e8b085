#include "fabric/routing/engines/balance.h"
#include "fabric/routing/engines/dimension_order.h"
#include "fabric/routing/engines/native_engines.h"

namespace holdfast::fabric {

EvenTables lay_in_dimension_order(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  EvenTables laid{graph.local_tables(fabric, options.threads), 0};
  Balance balance(graph);
  const DimensionOrderRule rule(graph, options.grid ? options.grid : find_grid(fabric, graph));
  for_each_destination(scattered_rows(graph), rule, options.threads, [&](std::uint32_t row, const Choices& choices) {
    lay_routes(graph, row, choices, balance, laid.tables);
    return true;
  });
  laid.largest_load = balance.largest_load();
  return laid;
}

Result<Forwarding> route_dor(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  return lay_in_dimension_order(fabric, graph, options).tables;
}

}  // namespace holdfast::fabric
