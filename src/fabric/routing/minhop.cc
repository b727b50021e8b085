#include "fabric/routing/native_engines.h"
#include "fabric/routing/relief.h"

namespace holdfast::fabric {

Result<Forwarding> route_minhop(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  Forwarding tables;
  lay_evenly(
      fabric, graph, MinimalRule(graph), options.threads, [](std::uint32_t, const Choices&) { return true; }, tables);
  return tables;
}

}  // namespace holdfast::fabric
