#pragma once

#include <cstdint>
#include <vector>

#include "fabric/routing/graph/choices.h"

namespace holdfast::fabric {

/// Paths of one layer towards each destination: shortest ones in layer 0, in the others shortest ones for some switches
/// and almost shortest ones, a hop longer, for the rest. N. Blach, M. Besta et al., "A High-Performance Design,
/// Implementation, Deployment, and Evaluation of The Slim Fly Network", NSDI 2024, section 5 (layers of FatPaths: M.
/// Besta et al., SC 2020).
///
/// A switch takes a detour by a neighbour that is as far from the destination as itself and has a shortest path of
/// which nobody takes a detour: so no path has two. Switches of one distance are asked one after another, each as long
/// as some such neighbour is left; who is asked first changes from layer to layer, and from destination to destination,
/// so that each pair has detours in about as many layers. Where cables join no two switches of one distance, as in
/// trees, all layers have shortest paths.
class AlmostMinimalRule {
 public:
  explicit AlmostMinimalRule(const SwitchGraph& graph) : graph_(&graph) {}
  void choices_to(std::uint32_t destination, std::uint32_t layer, Choices& choices);

 private:
  void settle_level(const std::vector<std::uint32_t>& rows);
  void find_detours(std::vector<std::uint32_t> rows);
  bool is_straight(std::uint32_t row) const { return detours_[row] == 0 && hops_[row] == distance_[row]; }
  std::uint32_t turn_of(std::uint32_t row) const;

  const SwitchGraph* graph_;
  std::uint32_t layer_ = 0;
  std::uint32_t destination_ = 0;
  std::vector<std::uint32_t> distance_;
  std::vector<std::uint32_t> hops_;    // of the path chosen
  std::vector<std::uint8_t> detours_;  // by row
  std::vector<std::uint8_t> needed_;   // by row: somebody's detour leads by it
};

}  // namespace holdfast::fabric
