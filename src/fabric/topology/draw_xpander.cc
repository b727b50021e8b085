#include <algorithm>
#include <numeric>

#include "core/random/stream.h"
#include "fabric/topology/blueprint.h"

namespace holdfast::fabric {
namespace {

bool joins_all(const Blueprint& plan) {
  std::vector<std::uint32_t> part(plan.switches);
  std::iota(part.begin(), part.end(), 0U);
  const auto find = [&](std::uint32_t at) {
    while (part[at] != at) at = part[at] = part[part[at]];
    return at;
  };
  std::uint32_t parts = plan.switches;
  for (const Blueprint::Cable& cable : plan.cables) {
    const std::uint32_t a = find(cable.a);
    const std::uint32_t b = find(cable.b);
    if (a == b) continue;
    part[a] = b;
    --parts;
  }
  return parts == 1;
}

/// A random order of 0 to k - 1: which switch of the other group each switch of a group is linked to.
std::vector<std::uint32_t> draw_matching(std::uint32_t k, random::Stream& stream) {
  std::vector<std::uint32_t> partner(k);
  std::iota(partner.begin(), partner.end(), 0U);
  for (std::uint32_t i = k; i > 1; --i) std::swap(partner[i - 1], partner[stream.below(i)]);
  return partner;
}

}  // namespace

/// A. Valadarsky, G. Shahaf, M. Dinitz, M. Schapira, "Xpander: Towards Optimal-Performance Datacenters", CoNEXT 2016: a
/// random k-lift of the complete graph of d + 1 nodes. Each node becomes a group of k switches without links among
/// them, each link a random matching of two groups.
Result<Blueprint> draw_xpander(const Topology& topology) {
  const std::uint32_t d = topology.arguments[0][0];
  const std::uint32_t k = topology.arguments[0][1];
  const std::uint32_t r = topology.links;
  if (d < 1 || k < 1 || (d == 1 && k > 1))
    return cannot_generate(topology, "there is no such connected graph", "give d of 2 or more and k of 1 or more");
  const std::uint64_t switches = product(std::uint64_t{d} + 1, k);
  if (Status status = check_size(topology, switches, product(product(switches, d), r)); !status.ok()) return status;
  random::Stream stream = random::Stream(topology.seed).child("fabric").child("xpander");
  Blueprint plan;
  plan.structure.shape = Shape::xpander;
  plan.structure.extent = {d + 1, k};
  for (std::uint32_t group = 0; group <= d; ++group) {
    for (std::uint32_t at = 0; at < k; ++at) plan.add_switch({group, at});
  }
  plan.hosts_everywhere(1);
  for (int attempt = 0; attempt < 100; ++attempt) {
    plan.cables.clear();
    for (std::uint32_t a = 0; a <= d; ++a) {
      for (std::uint32_t b = a + 1; b <= d; ++b) {
        const std::vector<std::uint32_t> partner = draw_matching(k, stream);
        for (std::uint32_t at = 0; at < k; ++at)
          plan.add_cables(a * k + at, (b - 1) * r + 1, b * k + partner[at], a * r + 1, r);
      }
    }
    if (joins_all(plan)) return plan;
  }
  return cannot_generate(topology, "100 random graphs were not connected", "give a larger d");
}

}  // namespace holdfast::fabric
