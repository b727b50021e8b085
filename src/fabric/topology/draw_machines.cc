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

namespace {

/// CS8500: 800 ports of HDR, 40 line chips and 20 spine chips of 40 ports.
constexpr Director cs8500{40, 20, 20, 1};
/// CS7500: 648 ports of EDR, 36 line chips and 18 spine chips of 36 ports.
constexpr Director cs7500{36, 18, 18, 1};

/// Directors over switches that have `below` cables to each of them, dealt out over their line chips. Adds the
/// directors' chips on the levels from `level` on.
void draw_directors(Blueprint& plan, const Director& kind, std::uint32_t count, const std::vector<std::uint32_t>& below,
                    std::uint32_t cables, std::uint32_t first_port, std::uint32_t level) {
  for (std::uint32_t d = 0; d < count; ++d) {
    const std::uint32_t first = plan.switches;
    for (std::uint32_t line = 0; line < kind.lines; ++line) plan.add_switch({level});
    for (std::uint32_t spine = 0; spine < kind.spines; ++spine) plan.add_switch({level + 1});
    std::uint32_t taken = 0;
    for (const std::uint32_t at : below) {
      for (std::uint32_t cable = 0; cable < cables; ++cable, ++taken)
        plan.add_cables(at, first_port + d * cables + cable, first + taken % kind.lines, taken / kind.lines + 1, 1);
    }
    draw_director(plan, kind, first);
  }
}

/// A tree of leaves under directors.
struct LeavesUnderDirectors {
  std::uint32_t leaves, hosts, rails;  ///< so many leaves in a row serve the same hosts
  std::uint32_t directors, cables;     ///< from each leaf to each director
  Director kind;
  std::uint32_t ports;  ///< of a chip
  LinkRate rate, host_rate;
};

Result<Blueprint> draw_leaves_under_directors(const Topology& topology, const LeavesUnderDirectors& machine) {
  if (topology.links != 1) return cannot_generate(topology, "its links are as they were built", "leave out links=");
  Blueprint plan;
  plan.ports = machine.ports;
  plan.hosts_first = true;
  plan.rails = machine.rails;
  plan.rate = machine.rate;
  plan.host_rate = machine.host_rate;
  plan.structure.shape = Shape::tree;
  plan.structure.extent = {3};
  for (std::uint32_t leaf = 0; leaf < machine.leaves; ++leaf) {
    plan.host_switches.push_back(plan.switches);
    plan.add_switch({0});
  }
  plan.hosts.assign(machine.leaves, machine.hosts);
  draw_directors(plan, machine.kind, machine.directors, plan.host_switches, machine.cables, 1, 1);
  return plan;
}

}  // namespace

/// Texas Advanced Computing Center, "Frontera User Guide", System Architecture: 8,008 nodes in 91 racks, in each two
/// leaves of 40 ports, 44 nodes at HDR100 on 22 split ports and 18 cables up to six core switches. A split port counts
/// as two here. Three cables to each core switch and the chips of these are assumed.
Result<Blueprint> draw_frontera(const Topology& topology) {
  return draw_leaves_under_directors(topology,
                                     {182, 44, 1, 6, 3, cs8500, 62, {4, LaneSpeed::hdr}, {2, LaneSpeed::hdr}});
}

/// 4,608 nodes in 256 racks, two switches a rack, 18 racks of core switches (EE Times, "Inside the Summit
/// Supercomputer", 2018), two rails of EDR, non-blocking (Zimmer et al., "An Evaluation of the CORAL Interconnects", SC
/// 2019). That each switch of a rack has a rail of its 18 nodes, one cable to each core switch, and those 648 ports is
/// assumed. Storage is left out.
Result<Blueprint> draw_summit(const Topology& topology) {
  return draw_leaves_under_directors(topology,
                                     {512, 18, 2, 18, 1, cs7500, 36, {4, LaneSpeed::edr}, {4, LaneSpeed::edr}});
}

/// As Summit, but "a 2:1 taper between the racks and aggregation switches" (Zimmer et al., SC 2019); 4,320 nodes
/// (TOP500). 18 nodes a rack and nine core switches are assumed.
Result<Blueprint> draw_sierra(const Topology& topology) {
  return draw_leaves_under_directors(topology,
                                     {480, 18, 2, 9, 1, cs7500, 36, {4, LaneSpeed::edr}, {4, LaneSpeed::edr}});
}

/// Mynavi News, "ABCI", part 2 (in Japanese): in each rack 34 nodes with two ports of EDR, four leaves and three
/// switches above them, of 36 ports all, six cables between any two of these, and from each of the upper ones four to
/// each of two CS7500. 1,088 nodes are 32 racks. That a node's ports go to two neighbouring leaves is assumed.
Result<Blueprint> draw_abci(const Topology& topology) {
  if (topology.links != 1) return cannot_generate(topology, "its links are as they were built", "leave out links=");
  constexpr std::uint32_t racks = 32;
  constexpr std::uint32_t leaves = 4;
  constexpr std::uint32_t uppers = 3;
  constexpr std::uint32_t cables = 6;
  Blueprint plan;
  plan.ports = 36;
  plan.hosts_first = true;
  plan.rails = 2;
  plan.rate = plan.host_rate = LinkRate{4, LaneSpeed::edr};
  plan.structure.shape = Shape::tree;
  plan.structure.extent = {4};
  std::vector<std::uint32_t> above;
  for (std::uint32_t rack = 0; rack < racks; ++rack) {
    const std::uint32_t first = plan.switches;
    for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
      plan.host_switches.push_back(plan.switches);
      plan.add_switch({0});
    }
    for (std::uint32_t upper = 0; upper < uppers; ++upper) {
      above.push_back(plan.switches);
      plan.add_switch({1});
      for (std::uint32_t leaf = 0; leaf < leaves; ++leaf)
        plan.add_cables(first + leaf, upper * cables + 1, above.back(), leaf * cables + 1, cables);
    }
  }
  plan.hosts.assign(plan.host_switches.size(), 17);
  draw_directors(plan, cs7500, 2, above, 4, leaves * cables + 1, 2);
  return plan;
}

}  // namespace holdfast::fabric
