#include "fabric/routing/balance.h"
#include "fabric/routing/native_engines.h"

namespace holdfast::fabric {

Result<Forwarding> route_sssp(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  Forwarding tables = graph.local_tables(fabric);
  Balance balance(graph);
  for_each_destination(graph, MinimalRule(graph), options.threads, [&](std::uint32_t row, const Choices& choices) {
    lay_routes(graph, row, choices, balance, tables,
               [](Balance& by, const Choices& among, bool counts) { by.pick_by_path(among, counts); });
    return true;
  });
  return tables;
}

}  // namespace holdfast::fabric
