#include <string>

#include "fabric/topology/blueprint.h"

namespace holdfast::fabric {
namespace {

/// How one dimension is cabled: `ports` of every switch, in blocks of r for each neighbour.
struct Dimension {
  std::uint32_t size;
  std::uint32_t copies;      ///< parallel links
  std::uint32_t first_port;  ///< from 1
  std::uint32_t stride;      ///< distance of neighbours' switch numbers
};

Status check_sizes(const Topology& topology) {
  const bool own_copies = topology.family == Family::hyperx && topology.arguments.size() > 1;
  if (own_copies && topology.arguments[1].size() != topology.arguments[0].size())
    return cannot_generate(topology, "the two lists have different lengths",
                           "give one number of parallel links a dimension");
  std::uint64_t switches = 1;
  std::uint64_t degree = 0;  // at most 16 times 10^18
  for (std::size_t d = 0; d < topology.arguments[0].size(); ++d) {
    const std::uint32_t size = topology.arguments[0][d];
    if (size < 2)
      return cannot_generate(topology, "a dimension has size " + std::to_string(size), "sizes are 2 or more");
    switches = product(switches, size);
    const std::uint64_t neighbours = topology.family == Family::hyperx ? size : 2;
    degree += product(neighbours, own_copies ? topology.arguments[1][d] : 1);
  }
  return check_size(topology, switches, product(product(switches, degree), topology.links));
}

std::vector<Dimension> dimensions_of(const Topology& topology) {
  const std::vector<std::uint32_t>& sizes = topology.arguments[0];
  const bool own_copies = topology.family == Family::hyperx && topology.arguments.size() > 1;
  std::vector<Dimension> dimensions;
  std::uint32_t port = 1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const std::uint32_t copies = topology.links * (own_copies ? topology.arguments[1][d] : 1);
    dimensions.push_back({sizes[d], copies, port, 0});
    port += copies * (topology.family == Family::hyperx ? sizes[d] - 1 : 2);
  }
  std::uint32_t stride = 1;
  for (std::size_t d = sizes.size(); d > 0;) {
    --d;
    dimensions[d].stride = stride;
    stride *= sizes[d];
  }
  return dimensions;
}

/// The link from `from` up to its neighbour, and round to the first of the line where there is a way round. Two
/// switches in a line have one link: a second one would be the same.
void draw_next(Blueprint& plan, const Dimension& d, std::uint32_t from, std::uint32_t place, bool round) {
  const bool last = place + 1 == d.size;
  if (last && (!round || d.size == 2)) return;
  const std::uint32_t to = last ? from - place * d.stride : from + d.stride;
  plan.add_cables(from, d.first_port, to, d.first_port + d.copies, d.copies);
}

void draw_all_above(Blueprint& plan, const Dimension& d, std::uint32_t from, std::uint32_t place) {
  for (std::uint32_t other = place + 1; other < d.size; ++other) {
    const std::uint32_t to = from + (other - place) * d.stride;
    plan.add_cables(from, d.first_port + (other - 1) * d.copies, to, d.first_port + place * d.copies, d.copies);
  }
}

}  // namespace

Result<Blueprint> draw_grid(const Topology& topology) {
  if (Status status = check_sizes(topology); !status.ok()) return status;
  const std::vector<Dimension> dimensions = dimensions_of(topology);
  Blueprint plan;
  plan.structure.extent = topology.arguments[0];
  plan.structure.shape = topology.family == Family::mesh    ? Shape::mesh
                         : topology.family == Family::torus ? Shape::torus
                                                            : Shape::hyperx;
  plan.switches = dimensions[0].stride * dimensions[0].size;
  for (std::uint32_t s = 0; s < plan.switches; ++s) {
    for (const Dimension& d : dimensions) {
      const std::uint32_t place = s / d.stride % d.size;
      plan.structure.coordinates.push_back(place);
      if (topology.family == Family::hyperx)
        draw_all_above(plan, d, s, place);
      else
        draw_next(plan, d, s, place, topology.family == Family::torus);
    }
  }
  const Dimension& last = dimensions.back();
  plan.first_host_port = last.first_port + last.copies * (topology.family == Family::hyperx ? last.size - 1 : 2);
  plan.hosts_everywhere(1);
  return plan;
}

}  // namespace holdfast::fabric
