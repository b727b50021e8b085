#pragma once

#include <algorithm>

#include "fabric/routing/engines/balance.h"

namespace holdfast::fabric {

/// Which of its adapter's LIDs this is, from 0.
inline std::uint32_t layer_of(const Fabric& fabric, const SwitchGraph::Terminal& terminal) {
  return terminal.lid - fabric.port(terminal.adapter).lid;
}

/// The most LIDs that an adapter has.
inline std::uint32_t layers_in(const Fabric& fabric, const SwitchGraph& graph) {
  std::uint32_t layers = 1;
  for (const SwitchGraph::Terminal& terminal : graph.terminals())
    layers = std::max(layers, layer_of(fabric, terminal) + 1);
  return layers;
}

/// Tables in which each LID of an adapter has paths of its own, laid evenly over all together. A rule's choices_to()
/// gets row * layers + layer as a destination. The layers of an adapter are laid one after another, so that each sees
/// where those before it lead; a switch's own LID takes the paths of layer 0.
template <class Rule>
Forwarding lay_layers(const Fabric& fabric, const SwitchGraph& graph, std::uint32_t layers, const Rule& rule,
                      unsigned threads) {
  Forwarding tables = graph.local_tables(fabric, threads);
  Balance balance(graph);
  std::vector<std::uint32_t> destinations;
  for (const std::uint32_t row : scattered_rows(graph)) {
    for (std::uint32_t layer = 0; layer < layers; ++layer) destinations.push_back(row * layers + layer);
  }
  std::vector<Choices> of_row(layers);
  const auto lay = [&](std::uint32_t destination, const Choices& choices) {
    const std::uint32_t row = destination / layers;
    of_row[destination % layers] = choices;
    if (destination % layers + 1 < layers) return true;
    if (const Lid own = graph.switch_lid(row); own != 0) {
      balance.pick_in_turn(of_row[0], row);
      balance.enter(of_row[0], own, tables);
    }
    for (const SwitchGraph::Terminal& terminal : graph.terminals_at(row)) {
      const Choices& among = of_row[layer_of(fabric, terminal)];
      balance.pick(among);
      balance.enter(among, terminal.lid, tables);
    }
    return true;
  };
  for_each_destination(destinations, rule, threads, lay);
  return tables;
}

}  // namespace holdfast::fabric
