#include "fabric/routing/lanes.h"
#include "fabric/routing/native_engines.h"

namespace holdfast::fabric {

Result<Forwarding> route_dfsssp(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  Result<Forwarding> tables = route_sssp(fabric, graph, options);
  if (!tables.ok()) return tables;
  const unsigned lanes = assign_lanes(graph, tables.value(), options.threads);
  if (lanes > options.lanes) return lanes_exhausted("dfsssp", lanes, options.lanes);
  return tables;
}

}  // namespace holdfast::fabric
