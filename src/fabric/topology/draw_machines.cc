#include <array>

#include "fabric/topology/blueprint.h"

/// Networks of two machines of J. Domke, T. Hoefler, S. Matsuoka, "Fail-in-Place Network Design: Interaction between
/// Topology, Routing Algorithm and Failures", SC 2014, rebuilt from their published numbers of switches, hosts and
/// links and from the makers' descriptions of the hardware. docs/design/fabric.md says what is known and what is
/// assumed.
namespace holdfast::fabric {
namespace {

/// A large switch: `lines` chips with `outside` ports each, every one linked `copies` times to each of `spines` chips.
struct Director {
  std::uint32_t lines, spines, outside, copies;
};

void draw_director(Blueprint& plan, const Director& d, std::uint32_t first) {
  for (std::uint32_t line = 0; line < d.lines; ++line) {
    for (std::uint32_t spine = 0; spine < d.spines; ++spine)
      plan.add_cables(first + line, d.outside + spine * d.copies + 1, first + d.lines + spine, line * d.copies + 1,
                      d.copies);
  }
}

/// Grid Director 4700: 324 ports, 18 line chips and 9 spine chips of 36 ports.
constexpr Director director_4700{18, 9, 18, 2};
/// ISR 9288: 288 ports, 24 line chips and 12 spine chips of 24 ports.
constexpr Director isr_9288{24, 12, 12, 1};

struct Edges {
  std::uint32_t count, cables, hosts;
};
/// 88 edge switches of 16 nodes with 3 cables to each of 6 directors; 8 of service nodes with the 93 cables that the
/// published number of links leaves.
constexpr std::array<Edges, 3> tsubame2_edges{{{88, 18, 16}, {5, 12, 18}, {3, 11, 19}}};

}  // namespace

Result<Blueprint> draw_tsubame2(const Topology& topology) {
  if (topology.links != 1) return cannot_generate(topology, "its links are as they were built", "leave out links=");
  constexpr std::uint32_t edges = 96;
  constexpr std::uint32_t directors = 6;
  Blueprint plan;
  plan.ports = 36;
  plan.hosts_first = true;
  plan.structure.shape = Shape::tree;
  plan.structure.extent = {3};
  for (std::uint32_t edge = 0; edge < edges; ++edge) plan.add_switch({0});
  std::array<std::uint32_t, directors> first{};
  for (std::uint32_t d = 0; d < directors; ++d) {
    first[d] = plan.switches;
    for (std::uint32_t line = 0; line < director_4700.lines; ++line) plan.add_switch({1});
    for (std::uint32_t spine = 0; spine < director_4700.spines; ++spine) plan.add_switch({2});
  }
  std::array<std::uint32_t, directors> taken{};  // outside ports of each director, dealt out over its lines
  std::uint32_t edge = 0;
  for (const Edges& kind : tsubame2_edges) {
    for (std::uint32_t i = 0; i < kind.count; ++i, ++edge) {
      for (std::uint32_t cable = 0; cable < kind.cables; ++cable) {
        const std::uint32_t d = (edge + cable) % directors;
        const std::uint32_t line = taken[d] % director_4700.lines;
        plan.add_cables(edge, cable + 1, first[d] + line, taken[d] / director_4700.lines + 1, 1);
        ++taken[d];
      }
      plan.host_switches.push_back(edge);
      plan.hosts.push_back(kind.hosts);
    }
  }
  for (std::uint32_t d = 0; d < directors; ++d) draw_director(plan, director_4700, first[d]);
  return plan;
}

Result<Blueprint> draw_deimos(const Topology& topology) {
  if (topology.links != 1) return cannot_generate(topology, "its links are as they were built", "leave out links=");
  constexpr std::uint32_t chips = isr_9288.lines + isr_9288.spines;
  constexpr std::array<std::uint32_t, 2> between = {30, 31};  // from each director to the next
  constexpr std::uint32_t hosts = 728;
  Blueprint plan;
  plan.ports = 24;
  std::vector<std::uint32_t> taken(3 * isr_9288.lines);  // outside ports by line chip
  for (std::uint32_t d = 0; d < 3; ++d) {
    plan.switches += chips;
    draw_director(plan, isr_9288, d * chips);
  }
  for (std::uint32_t d = 0; d < 2; ++d) {
    for (std::uint32_t cable = 0; cable < between[d]; ++cable) {
      const std::uint32_t here = cable % isr_9288.lines;
      const std::uint32_t there = (cable + isr_9288.lines / 2) % isr_9288.lines;
      plan.add_cables(d * chips + here, ++taken[d * isr_9288.lines + here], (d + 1) * chips + there,
                      ++taken[(d + 1) * isr_9288.lines + there], 1);
    }
  }
  // Hosts go where ports are left, the last few of which stay free.
  for (std::uint32_t line = 0; line < taken.size(); ++line) {
    plan.host_switches.push_back(line / isr_9288.lines * chips + line % isr_9288.lines);
    plan.hosts.push_back(isr_9288.outside - taken[line]);
  }
  std::uint32_t free = 0;
  for (std::uint32_t count : plan.hosts) free += count;
  for (std::uint32_t i = 0; free > hosts; ++i, --free) --plan.hosts[i * 5 % plan.hosts.size()];
  return plan;
}

}  // namespace holdfast::fabric
