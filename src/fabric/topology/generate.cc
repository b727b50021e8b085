#include "fabric/topology/generate.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "core/memory/available.h"
#include "core/random/stream.h"
#include "fabric/topology/blueprint.h"

namespace holdfast::fabric {

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b > std::numeric_limits<std::uint64_t>::max() / a ? std::numeric_limits<std::uint64_t>::max()
                                                                     : a * b;
}

Status cannot_generate(const Topology& topology, std::string wrong, std::string remedy) {
  return {Code::bad_input, "generating " + format(topology), std::move(wrong), std::move(remedy)};
}

Status check_size(const Topology& topology, std::uint64_t switches, std::uint64_t cables) {
  if (switches > most_switches)
    return cannot_generate(topology, "more than " + std::to_string(most_switches) + " switches",
                           "give smaller numbers");
  if (cables > most_cables)
    return cannot_generate(topology, "more than " + std::to_string(most_cables) + " links", "give smaller numbers");
  return {};
}

namespace {

constexpr std::uint32_t usual_ports = 36;
constexpr std::uint32_t most_ports = 254;  // InfiniBand Architecture Specification 1.3, 14.2.5.3: NumPorts and port 255

Result<Blueprint> draw(const Topology& topology) {
  switch (topology.family) {
    case Family::mesh:
    case Family::torus:
    case Family::hyperx:
      return draw_grid(topology);
    case Family::tree:
    case Family::xgft:
      return draw_tree(topology);
    case Family::dragonfly:
      return draw_dragonfly(topology);
    case Family::dragonfly_plus:
      return draw_dragonfly_plus(topology);
    case Family::kautz:
      return draw_kautz(topology);
    case Family::random:
      return draw_random_regular(topology);
    case Family::slimfly:
      return draw_slim_fly(topology);
    case Family::xpander:
      return draw_xpander(topology);
    case Family::rails:
      return draw_rails(topology);
    case Family::tsubame2:
      return draw_tsubame2(topology);
    case Family::deimos:
      return draw_deimos(topology);
    case Family::frontera:
      return draw_frontera(topology);
    case Family::summit:
      return draw_summit(topology);
    case Family::sierra:
      return draw_sierra(topology);
    case Family::abci:
      return draw_abci(topology);
  }
  return cannot_generate(topology, "no such family", "");
}

/// The blueprint and what of it does not depend on the hosts.
struct Site {
  const Topology& topology;
  Blueprint plan;
  std::vector<std::uint32_t> cables;  ///< ends at each switch
  std::uint32_t ports = 0;            ///< of every switch; 0 while it is to be what is needed

  /// What a text says counts for more than how a machine was built.
  LinkRate rate() const { return topology.rate == LinkRate{} ? plan.rate.value_or(topology.rate) : topology.rate; }
  LinkRate host_rate() const {
    if (topology.host_rate) return *topology.host_rate;
    return topology.rate == LinkRate{} ? plan.host_rate.value_or(rate()) : rate();
  }
};

std::uint32_t ports_of(const Site& site) {
  return site.ports == 0 ? usual_ports : site.ports;
}

/// The ports that a switch could give to hosts.
std::uint32_t room(const Site& site, std::uint32_t at) {
  const std::uint32_t before = std::max(site.cables[at], site.plan.first_host_port - 1);
  const std::uint32_t ports = ports_of(site);
  return ports > before ? ports - before : 0;
}

std::vector<std::uint32_t> spread(std::uint64_t hosts, std::size_t over) {
  std::vector<std::uint32_t> counts(over);
  for (std::uint64_t i = 0; i < over; ++i)
    counts[i] = static_cast<std::uint32_t>((i + 1) * hosts / over - i * hosts / over);
  return counts;
}

std::vector<std::uint32_t> packed(const Site& site, std::uint64_t hosts) {
  std::vector<std::uint32_t> counts;
  for (std::uint32_t at : site.plan.host_switches) {
    counts.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(room(site, at), hosts)));
    hosts -= counts.back();
  }
  if (!counts.empty()) counts.back() += static_cast<std::uint32_t>(hosts);  // too many: the check of ports will say so
  return counts;
}

std::vector<std::uint32_t> at_random(const Site& site, std::uint64_t hosts) {
  std::vector<std::uint32_t> free;  // one entry a free port: its switch
  for (std::uint32_t i = 0; i < site.plan.host_switches.size(); ++i)
    free.insert(free.end(), room(site, site.plan.host_switches[i]), i);
  if (free.size() < hosts) return packed(site, hosts);
  random::Stream stream = random::Stream(site.topology.seed).child("fabric").child("placement");
  std::vector<std::uint32_t> counts(site.plan.host_switches.size());
  for (std::uint64_t host = 0; host < hosts; ++host) {
    std::swap(free[host], free[host + stream.below(free.size() - host)]);
    ++counts[free[host]];
  }
  return counts;
}

/// Whether the fabric will fit, before it is built. Before hosts are placed none are given; the list that at_random()
/// makes then is shorter than the fabric's of ports.
Status check_memory(const Site& site, const std::vector<std::uint32_t>& hosts) {
  constexpr std::uint64_t name_bytes = 48;  // of a name that does not fit into the string itself, with its allocation
  const std::uint64_t adapters = std::accumulate(hosts.begin(), hosts.end(), std::uint64_t{0});
  const std::uint64_t nodes = site.plan.switches + adapters;
  const std::uint64_t ports = std::uint64_t{site.plan.switches} * (ports_of(site) + 1) + 2 * adapters;
  const std::uint64_t links = site.plan.cables.size() + adapters;
  // Each list may be copied once more while it grows.
  const std::uint64_t bytes = 2 * (nodes * (sizeof(Node) + name_bytes) + ports * sizeof(Port) + links * sizeof(Link));
  return memory::check_estimate("generating " + format(site.topology), bytes, "give smaller numbers");
}

Result<std::vector<std::uint32_t>> hosts_by_switch(const Site& site) {
  const Topology& topology = site.topology;
  const std::size_t over = site.plan.host_switches.size();
  const bool own = !topology.hosts && !topology.hosts_per_switch;
  std::uint64_t hosts = std::accumulate(site.plan.hosts.begin(), site.plan.hosts.end(), std::uint64_t{0});
  if (topology.hosts) hosts = *topology.hosts;
  if (topology.hosts_per_switch) hosts = product(*topology.hosts_per_switch, over);
  if (hosts > most_hosts)
    return cannot_generate(topology, "more than " + std::to_string(most_hosts) + " hosts", "give fewer");
  switch (topology.placement) {
    case Placement::spread:
      break;
    case Placement::packed:
      return packed(site, hosts);
    case Placement::random:
      if (Status status = check_memory(site, {}); !status.ok()) return status;
      return at_random(site, hosts);
  }
  return own ? site.plan.hosts : spread(hosts, over);
}

std::string switch_name(const Structure& structure, std::uint32_t at, std::vector<std::uint32_t>& in_level) {
  if (structure.shape == Shape::unknown || structure.extent.empty()) return "s-" + std::to_string(at);
  const std::span<const std::uint32_t> place = structure.at(at);
  if (structure.shape == Shape::tree)
    return "s-" + std::to_string(place[0]) + "-" + std::to_string(in_level[place[0]]++);
  std::string name = "s";
  for (std::uint32_t coordinate : place) name += "-" + std::to_string(coordinate);
  return name;
}

/// Of one plane.
std::vector<std::string> switch_names(const Blueprint& plan) {
  std::vector<std::uint32_t> in_level(plan.structure.extent.empty() ? 0 : plan.structure.extent[0]);
  std::vector<std::string> names;
  names.reserve(plan.switches);
  for (std::uint32_t s = 0; s < plan.switches; ++s) names.push_back(switch_name(plan.structure, s, in_level));
  return names;
}

/// The same network several times, joined by nothing. Of what serves the same hosts (rails, planes) all follow one
/// another, so that each host gets an adapter on each.
Status add_planes(Site& site, std::vector<std::uint32_t>& hosts, std::vector<std::string>& names) {
  const std::uint32_t planes = site.topology.planes;
  if (planes == 1) return {};
  Blueprint& plan = site.plan;
  const std::uint64_t adapters = std::accumulate(hosts.begin(), hosts.end(), std::uint64_t{0});
  if (product(adapters, planes) > most_hosts)
    return cannot_generate(site.topology, "more than " + std::to_string(most_hosts) + " adapters", "give fewer planes");
  if (Status status = check_size(site.topology, product(plan.switches, planes), product(plan.cables.size(), planes));
      !status.ok())
    return status;
  const Blueprint one = plan;
  const std::vector<std::uint32_t> hosts_of_one = std::exchange(hosts, {});
  const std::vector<std::string> names_of_one = std::exchange(names, {});
  plan.host_switches.clear();
  for (std::size_t i = 0; i < one.host_switches.size(); ++i) {
    for (std::uint32_t plane = 0; plane < planes; ++plane) {
      plan.host_switches.push_back(plane * one.switches + one.host_switches[i]);
      hosts.push_back(hosts_of_one[i]);
    }
  }
  for (std::uint32_t plane = 0; plane < planes; ++plane) {
    for (const std::string& name : names_of_one) names.push_back("p" + std::to_string(plane) + "-" + name);
    if (plane == 0) continue;
    const std::uint32_t first = plane * one.switches;
    for (const Blueprint::Cable& cable : one.cables)
      plan.cables.push_back({first + cable.a, first + cable.b, cable.port_a, cable.port_b});
    plan.structure.coordinates.insert(plan.structure.coordinates.end(), one.structure.coordinates.begin(),
                                      one.structure.coordinates.end());
  }
  plan.switches *= planes;
  plan.rails *= planes;
  if (plan.structure.shape != Shape::tree) plan.structure = {};  // each place would be taken several times
  return {};
}

void count_cables(Site& site) {
  site.cables.assign(site.plan.switches, 0);
  for (const Blueprint::Cable& cable : site.plan.cables) {
    ++site.cables[cable.a];
    ++site.cables[cable.b];
  }
}

/// Which ports of every switch are cabled, and the most that any needs.
Status settle_ports(Site& site, const std::vector<std::uint32_t>& hosts, const std::vector<std::string>& names) {
  std::vector<std::uint32_t> needed(site.plan.switches);
  for (const Blueprint::Cable& cable : site.plan.cables) {
    needed[cable.a] = std::max(needed[cable.a], cable.port_a);
    needed[cable.b] = std::max(needed[cable.b], cable.port_b);
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::uint32_t at = site.plan.host_switches[i];
    const std::uint32_t before = std::max(site.cables[at], site.plan.first_host_port - 1);
    needed[at] = std::max(hosts[i] == 0 ? 0 : before + hosts[i], needed[at]);
  }
  const auto widest = std::ranges::max_element(needed);
  const std::uint32_t most = widest == needed.end() ? 0 : *widest;
  if (site.ports == 0) site.ports = std::max(usual_ports, most);
  if (most <= std::min(site.ports, most_ports)) return {};
  const std::string needs =
      names[static_cast<std::size_t>(widest - needed.begin())] + " needs " + std::to_string(most) + " ports";
  if (most > most_ports)
    return cannot_generate(site.topology, "a switch has at most 254 ports, and " + needs, "give fewer links or hosts");
  return cannot_generate(site.topology, needs + " and has " + std::to_string(site.ports),
                         "give ports=" + std::to_string(most) + ", or fewer links or hosts");
}

void make_link(Fabric& fabric, PortId a, PortId b, LinkRate rate, double length_m) {
  fabric.mutable_link(fabric.add_link(a, b, rate)).length_m = length_m;
  fabric.mutable_port(a).capable = rate;
  fabric.mutable_port(b).capable = rate;
}

/// "host-7", or, with an adapter on each of several rails, "host-7 mlx5_2", as drivers name them.
std::string adapter_name(const Blueprint& plan, std::size_t at, std::uint32_t first, std::uint32_t number) {
  const std::string host = "host-" + std::to_string(first + number);
  return plan.rails == 1 ? host : host + " mlx5_" + std::to_string(at % plan.rails);
}

void add_hosts(Fabric& fabric, const Site& site, const std::vector<std::uint32_t>& hosts) {
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const NodeId at = site.plan.host_switches[i];
    std::uint32_t number = site.plan.hosts_first ? 1 : site.plan.first_host_port;
    const std::uint32_t first = next;
    for (std::uint32_t host = 0; host < hosts[i]; ++host, ++number) {
      while (fabric.port(fabric.port_of(at, static_cast<std::uint8_t>(number))).link != none) ++number;
      const NodeId id = fabric.add_node(NodeKind::adapter, 1, adapter_name(site.plan, i, first, host));
      make_link(fabric, fabric.port_of(id, 1), fabric.port_of(at, static_cast<std::uint8_t>(number)), site.host_rate(),
                site.topology.length_m);
    }
    if (i % site.plan.rails == site.plan.rails - 1) next += hosts[i];
  }
}

Fabric build(const Site& site, const std::vector<std::uint32_t>& hosts, const std::vector<std::string>& names) {
  Fabric fabric;
  for (const std::string& name : names) fabric.add_node(NodeKind::switch_, static_cast<std::uint8_t>(site.ports), name);
  for (PortId port = 0; port < fabric.ports().size(); ++port) fabric.mutable_port(port).capable = site.rate();
  std::vector<std::uint32_t> behind(site.plan.switches);
  if (site.plan.hosts_first) {
    for (std::size_t i = 0; i < hosts.size(); ++i) behind[site.plan.host_switches[i]] = hosts[i];
  }
  for (const Blueprint::Cable& cable : site.plan.cables) {
    make_link(fabric, fabric.port_of(cable.a, static_cast<std::uint8_t>(behind[cable.a] + cable.port_a)),
              fabric.port_of(cable.b, static_cast<std::uint8_t>(behind[cable.b] + cable.port_b)), site.rate(),
              site.topology.length_m);
  }
  add_hosts(fabric, site, hosts);
  fabric.set_structure(site.plan.structure);
  fabric.assign_lids(site.topology.lmc);
  return fabric;
}

}  // namespace

Result<Fabric> generate(const Topology& topology) {
  if (topology.ports > most_ports)
    return cannot_generate(topology, "a switch has at most 254 ports", "give ports=254 or fewer");
  Result<Blueprint> drawn = draw(topology);
  if (!drawn.ok()) return drawn.status();
  Site site{topology, std::move(drawn).value(), {}, topology.ports};
  if (site.ports == 0) site.ports = site.plan.ports;
  count_cables(site);
  Result<std::vector<std::uint32_t>> counted = hosts_by_switch(site);
  if (!counted.ok()) return counted.status();
  std::vector<std::uint32_t> hosts = std::move(counted).value();
  std::vector<std::string> names = switch_names(site.plan);
  if (Status status = add_planes(site, hosts, names); !status.ok()) return status;
  count_cables(site);
  if (Status status = settle_ports(site, hosts, names); !status.ok()) return status;
  if (Status status = check_memory(site, hosts); !status.ok()) return status;
  return build(site, hosts, names);
}

Result<Fabric> generate(std::string_view text) {
  Result<Topology> topology = parse_topology(text);
  if (!topology.ok()) return topology.status();
  return generate(topology.value());
}

}  // namespace holdfast::fabric
