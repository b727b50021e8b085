#include <string>

#include "fabric/topology/blueprint.h"

namespace holdfast::fabric {
namespace {

/// Dragonfly(a, p, h, g) of J. Kim, W. Dally, S. Scott, D. Abts, "Technology-Driven, Highly-Scalable Dragonfly
/// Topology", ISCA 2008: g groups of a routers, each with p hosts and h links to other groups; every two routers of a
/// group and every two groups are linked (one-dimensional flattened butterflies).
struct Dragonfly {
  std::uint32_t a, p, h, g;
  std::uint32_t between = 0;  ///< links between every two groups: as many as the a * h of a group allow alike
};

std::uint32_t links_between_groups(std::uint64_t group_links, std::uint32_t groups) {
  return groups > 1 ? static_cast<std::uint32_t>(group_links / (groups - 1)) : 0;
}

Status check_groups(const Topology& topology, std::uint64_t group_links, std::uint32_t groups, const char* product) {
  if (groups <= 1 || group_links >= groups - 1) return {};
  return cannot_generate(
      topology,
      "a group's " + std::string(product) + " links reach at most " + std::to_string(group_links) + " other groups",
      "give g of at most " + std::string(product) + "+1");
}

/// Where link `copy` of the links from `group` to `other` leaves: consecutive links take consecutive routers.
struct Slot {
  std::uint32_t router;
  std::uint32_t index;  ///< among the router's links to other groups
};
Slot slot(const Dragonfly& d, std::uint32_t group, std::uint32_t other, std::uint32_t copy) {
  const std::uint32_t distance = (other + d.g - group - 1) % d.g;
  const std::uint32_t number = distance * d.between + copy;
  return {number % d.a, number / d.a};
}

/// The routers of a group that have links to others, among all of its switches.
struct Routers {
  std::uint32_t group_size;
  std::uint32_t first;
};
void draw_links_between(Blueprint& plan, const Dragonfly& d, Routers routers, std::uint32_t first_port,
                        std::uint32_t r) {
  for (std::uint32_t group = 0; group < d.g; ++group) {
    for (std::uint32_t other = group + 1; other < d.g; ++other) {
      for (std::uint32_t copy = 0; copy < d.between; ++copy) {
        const Slot here = slot(d, group, other, copy);
        const Slot there = slot(d, other, group, copy);
        plan.add_cables(group * routers.group_size + routers.first + here.router, first_port + here.index * r,
                        other * routers.group_size + routers.first + there.router, first_port + there.index * r, r);
      }
    }
  }
}

}  // namespace

Result<Blueprint> draw_dragonfly(const Topology& topology) {
  const auto& numbers = topology.arguments[0];
  Dragonfly d{numbers[0], numbers[1], numbers[2], numbers[3]};
  const std::uint32_t r = topology.links;
  if (d.a < 1 || d.g < 1) return cannot_generate(topology, "no routers or no groups", "give a and g of 1 or more");
  const std::uint64_t group_links = product(d.a, d.h);
  if (Status status = check_groups(topology, group_links, d.g, "a*h"); !status.ok()) return status;
  const std::uint64_t degree = std::uint64_t{d.a} - 1 + d.h;
  if (Status status = check_size(topology, product(d.a, d.g), product(product(product(d.a, d.g), degree), r));
      !status.ok())
    return status;
  d.between = links_between_groups(group_links, d.g);
  Blueprint plan;
  plan.structure.shape = Shape::dragonfly;
  plan.structure.extent = {d.g, d.a};
  for (std::uint32_t group = 0; group < d.g; ++group) {
    for (std::uint32_t router = 0; router < d.a; ++router) plan.add_switch({group, router});
  }
  for (std::uint32_t group = 0; group < d.g; ++group) {
    for (std::uint32_t i = 0; i < d.a; ++i) {
      for (std::uint32_t j = i + 1; j < d.a; ++j)
        plan.add_cables(group * d.a + i, (j - 1) * r + 1, group * d.a + j, i * r + 1, r);
    }
  }
  draw_links_between(plan, d, {d.a, 0}, (d.a - 1) * r + 1, r);
  plan.hosts_everywhere(d.p);
  return plan;
}

/// A. Shpiner, Z. Haramaty, S. Eliad, V. Zdornov, B. Gafni, E. Zahavi, "Dragonfly+: Low Cost Topology for Scaling
/// Datacenters", HiPINEB 2017; M. Flajslik, E. Borch, M. Parker, "Megafly: A Topology for Exascale Systems", ISC 2018:
/// a Dragonfly whose groups are trees of two levels. Every leaf is linked to every spine of its group, leaves have the
/// hosts, spines the links to other groups.
Result<Blueprint> draw_dragonfly_plus(const Topology& topology) {
  const auto& numbers = topology.arguments[0];
  const std::uint32_t leaves = numbers[0];
  const std::uint32_t spines = numbers[1];
  Dragonfly d{spines, numbers[2], numbers[3], numbers[4]};
  const std::uint32_t r = topology.links;
  if (leaves < 1 || spines < 1 || d.g < 1)
    return cannot_generate(topology, "no leaves, no spines or no groups", "give l, s and g of 1 or more");
  const std::uint64_t group_links = product(spines, d.h);
  if (Status status = check_groups(topology, group_links, d.g, "s*h"); !status.ok()) return status;
  const std::uint64_t group_cables = product(spines, std::uint64_t{leaves} + d.h);
  if (Status status =
          check_size(topology, product(std::uint64_t{leaves} + spines, d.g), product(product(group_cables, d.g), r));
      !status.ok())
    return status;
  d.between = links_between_groups(group_links, d.g);
  Blueprint plan;
  plan.structure.shape = Shape::dragonfly;
  plan.structure.extent = {d.g, leaves + spines};
  for (std::uint32_t group = 0; group < d.g; ++group) {
    const std::uint32_t first = plan.switches;
    for (std::uint32_t at = 0; at < leaves + spines; ++at) plan.add_switch({group, at});
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
      plan.host_switches.push_back(first + leaf);
      for (std::uint32_t spine = 0; spine < spines; ++spine)
        plan.add_cables(first + leaf, spine * r + 1, first + leaves + spine, leaf * r + 1, r);
    }
  }
  draw_links_between(plan, d, {leaves + spines, leaves}, leaves * r + 1, r);
  plan.hosts.assign(plan.host_switches.size(), d.p);
  return plan;
}

}  // namespace holdfast::fabric
