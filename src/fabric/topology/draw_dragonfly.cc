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

}  // namespace

Result<Blueprint> draw_dragonfly(const Topology& topology) {
  const auto& numbers = topology.arguments[0];
  Dragonfly d{numbers[0], numbers[1], numbers[2], numbers[3]};
  const std::uint32_t r = topology.links;
  if (d.a < 1 || d.g < 1) return cannot_generate(topology, "no routers or no groups", "give a and g of 1 or more");
  const std::uint64_t group_links = product(d.a, d.h);
  if (d.g > 1 && group_links < d.g - 1)
    return cannot_generate(topology,
                           "a group's a*h links reach at most " + std::to_string(group_links) + " other groups",
                           "give g of at most a*h+1");
  const std::uint64_t degree = std::uint64_t{d.a} - 1 + d.h;
  if (Status status = check_size(topology, product(d.a, d.g), product(product(product(d.a, d.g), degree), r));
      !status.ok())
    return status;
  if (d.g > 1) d.between = static_cast<std::uint32_t>(group_links / (d.g - 1));
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
  const std::uint32_t behind = (d.a - 1) * r + 1;
  for (std::uint32_t group = 0; group < d.g; ++group) {
    for (std::uint32_t other = group + 1; other < d.g; ++other) {
      for (std::uint32_t copy = 0; copy < d.between; ++copy) {
        const Slot here = slot(d, group, other, copy);
        const Slot there = slot(d, other, group, copy);
        plan.add_cables(group * d.a + here.router, behind + here.index * r, other * d.a + there.router,
                        behind + there.index * r, r);
      }
    }
  }
  plan.hosts_everywhere(d.p);
  return plan;
}

}  // namespace holdfast::fabric
