#include "fabric/routing/engines/almost_minimal.h"
#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/engines/layers.h"
#include "fabric/routing/engines/native_engines.h"

// Layered routing: N. Blach, M. Besta et al., "A High-Performance Design, Implementation, Deployment, and Evaluation of
// The Slim Fly Network", NSDI 2024. The LIDs of an adapter are layers; each has its own paths (almost_minimal.h), laid
// evenly over all layers together. Lanes are dealt to routes as by dfsssp.

namespace holdfast::fabric {
namespace {

/// One layer of a switch as a destination: row * layers + layer. The layers from `with_detours` on have shortest paths.
class LayeredRule {
 public:
  LayeredRule(const SwitchGraph& graph, std::uint32_t layers, std::uint32_t with_detours)
      : rule_(graph), layers_(layers), with_detours_(with_detours) {}
  void choices_to(std::uint32_t destination, Choices& choices) {
    const std::uint32_t layer = destination % layers_;
    rule_.choices_to(destination / layers_, layer < with_detours_ ? layer : 0, choices);
  }

 private:
  AlmostMinimalRule rule_;
  std::uint32_t layers_;
  std::uint32_t with_detours_;
};

}  // namespace

Result<Forwarding> route_lnmp(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  constexpr unsigned any_number = 255;
  const std::uint32_t layers = layers_in(fabric, graph);
  unsigned needed = 0;
  // Longer paths need more lanes: as many layers have some as lanes allow.
  for (std::uint32_t with_detours = layers;; with_detours = with_detours == 2 ? 1 : (with_detours + 1) / 2) {
    Forwarding tables = lay_layers(fabric, graph, layers, LayeredRule(graph, layers, with_detours), options.threads);
    const bool last = with_detours == 1;
    needed = assign_lanes(graph, tables, last ? any_number : options.lanes);
    if (needed <= options.lanes) {
      tables.lanes_needed = tables.lanes_used;
      spread_over_lanes(graph, tables, options.lanes);
      return tables;
    }
    if (last) return lanes_exhausted("lnmp", needed, options.lanes);
  }
}

}  // namespace holdfast::fabric
