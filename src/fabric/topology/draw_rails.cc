#include <algorithm>
#include <string>

#include "fabric/topology/blueprint.h"

namespace holdfast::fabric {
namespace {

/// The trees of GPU clusters: each host has r adapters, and those of one number, a rail, have leaves of their own, so
/// that traffic within a rail and a unit passes one switch. NVIDIA, "DGX SuperPOD: Next Generation Scalable
/// Infrastructure for AI Leadership", reference architecture, DGX H100, network fabrics (table 4: 8 rails, units of 32
/// hosts; two levels up to 4 units, a leaf with as many cables up as down).
struct Rails {
  std::uint32_t rails, hosts, units, spines;
  std::uint32_t pods = 1;
  std::uint32_t cores = 0;  ///< in each of `spines` groups; 0: two levels, and the spines join the rails
  std::uint32_t copies = 1;

  bool two_levels() const { return cores == 0; }
  /// Sets of leaves that share spines: all, or each rail of each pod.
  std::uint32_t trees() const { return two_levels() ? 1 : pods * rails; }
  /// A spine has as many cables up as down, dealt evenly to the cores of its group.
  std::uint32_t core_copies() const { return two_levels() ? 0 : units * copies / cores; }
};

Result<Rails> read_rails(const Topology& topology) {
  const auto& first = topology.arguments[0];
  if (first.size() != 4)
    return cannot_generate(topology, "the first list has four numbers", "write rails(r,n,u,s), as in rails(8,32,4,16)");
  Rails rails{first[0], first[1], first[2], first[3]};
  rails.copies = topology.links;
  if (rails.rails < 1 || rails.hosts < 1 || rails.units < 1 || rails.spines < 1)
    return cannot_generate(topology, "no rails, hosts, units or spines", "give r, n, u and s of 1 or more");
  if (topology.hosts || topology.hosts_per_switch || topology.placement != Placement::spread)
    return cannot_generate(topology, "its hosts have an adapter on each rail and are not placed otherwise",
                           "give n hosts a unit, without hosts=, hosts-per-switch= and placement=");
  if (topology.arguments.size() == 1) return rails;
  const auto& second = topology.arguments[1];
  if (second.size() != 2 || second[0] < 1 || second[1] < 1)
    return cannot_generate(topology, "the second list is pods and cores of a group, 1 or more each",
                           "as in rails(8,32,4,4;4,16) links=8");
  rails.pods = second[0];
  rails.cores = second[1];
  if (std::uint64_t{rails.units} * rails.copies % rails.cores != 0)
    return cannot_generate(topology,
                           "a spine's " + std::to_string(std::uint64_t{rails.units} * rails.copies) +
                               " cables up cannot be dealt evenly to " + std::to_string(rails.cores) + " cores",
                           "give c that divides u*links");
  return rails;
}

void add_switches(Blueprint& plan, const Rails& rails) {
  for (std::uint32_t pod = 0; pod < rails.pods; ++pod) {
    for (std::uint32_t unit = 0; unit < rails.units; ++unit) {
      for (std::uint32_t rail = 0; rail < rails.rails; ++rail) {
        plan.host_switches.push_back(plan.switches);
        plan.add_switch({0, pod, rail, unit});
      }
    }
  }
  for (std::uint32_t tree = 0; tree < rails.trees(); ++tree) {
    for (std::uint32_t spine = 0; spine < rails.spines; ++spine)
      plan.add_switch({1, tree / rails.rails, tree % rails.rails, spine});
  }
  for (std::uint32_t group = 0; group < rails.spines; ++group) {
    for (std::uint32_t core = 0; core < rails.cores; ++core) plan.add_switch({2, 0, 0, group * rails.cores + core});
  }
}

}  // namespace

Result<Blueprint> draw_rails(const Topology& topology) {
  Result<Rails> read = read_rails(topology);
  if (!read.ok()) return read.status();
  const Rails& rails = read.value();
  const std::uint64_t leaves = product(product(rails.pods, rails.units), rails.rails);
  const std::uint64_t trees = rails.two_levels() ? 1 : product(rails.pods, rails.rails);
  const std::uint64_t spines = product(trees, rails.spines);
  const std::uint64_t cores = product(rails.spines, rails.cores);
  const std::uint64_t cables =
      product(product(leaves, rails.spines), product(rails.copies, rails.two_levels() ? 1 : 2));
  const std::uint64_t switches =
      std::min(leaves, most_switches + 1) + std::min(spines, most_switches + 1) + std::min(cores, most_switches + 1);
  if (Status status = check_size(topology, switches, cables); !status.ok()) return status;
  Blueprint plan;
  plan.structure.shape = Shape::tree;
  plan.structure.extent = {rails.two_levels() ? 2U : 3U, rails.pods, rails.rails,
                           static_cast<std::uint32_t>(std::max({std::uint64_t{rails.units}, spines, cores}))};
  add_switches(plan, rails);
  const auto first_spine = static_cast<std::uint32_t>(leaves);
  const auto first_core = static_cast<std::uint32_t>(leaves + spines);
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
    const std::uint32_t rail = leaf % rails.rails;
    const std::uint32_t unit = leaf / rails.rails % rails.units;
    const std::uint32_t tree = rails.two_levels() ? 0 : leaf / rails.rails / rails.units * rails.rails + rail;
    const std::uint32_t place = rails.two_levels() ? leaf : unit;
    for (std::uint32_t spine = 0; spine < rails.spines; ++spine)
      plan.add_cables(leaf, spine * rails.copies + 1, first_spine + tree * rails.spines + spine,
                      place * rails.copies + 1, rails.copies);
  }
  const std::uint32_t copies = rails.core_copies();
  for (std::uint32_t spine = 0; spine < (rails.two_levels() ? 0 : spines); ++spine) {
    for (std::uint32_t core = 0; core < rails.cores; ++core)
      plan.add_cables(first_spine + spine, rails.units * rails.copies + core * copies + 1,
                      first_core + spine % rails.spines * rails.cores + core, spine / rails.spines * copies + 1,
                      copies);
  }
  plan.hosts.assign(plan.host_switches.size(), rails.hosts);
  plan.hosts_first = true;
  plan.rails = rails.rails;
  return plan;
}

}  // namespace holdfast::fabric
