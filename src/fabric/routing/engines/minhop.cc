#include "fabric/routing/engines/native_engines.h"

namespace holdfast::fabric {

Result<Forwarding> route_minhop(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  return lay_shortest_paths(fabric, graph, options.threads).tables;
}

}  // namespace holdfast::fabric
