#include "fabric/routing/engines/native_engines.h"

namespace holdfast::fabric {

Result<Forwarding> route_minhop(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  return route_sssp(fabric, graph, options);
}

}  // namespace holdfast::fabric
