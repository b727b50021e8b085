#include "fabric/topology/closed_form.h"

#include <algorithm>
#include <functional>

namespace holdfast::fabric {

namespace {

std::uint64_t power(std::uint64_t base, std::uint32_t exponent) {
  std::uint64_t result = 1;
  for (std::uint32_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

void set_connectivity(ClosedForm& form, std::uint32_t connectivity, std::uint32_t links) {
  form.vertex_connectivity = connectivity;
  form.edge_connectivity = connectivity * links;
}

ClosedForm grid(const Topology& topology) {
  ClosedForm form;
  form.switches = 1;
  for (std::uint32_t size : topology.arguments[0]) form.switches *= size;
  std::uint32_t diameter = 0;
  std::uint32_t connectivity = 0;
  for (std::uint32_t size : topology.arguments[0]) {
    const bool ring = topology.family == Family::torus && size > 2;
    form.links += form.switches / size * (ring ? size : size - 1) * topology.links;
    diameter += topology.family == Family::torus ? size / 2 : size - 1;
    connectivity += ring ? 2 : 1;
  }
  form.hosts = form.switches;
  form.diameter = diameter;
  set_connectivity(form, connectivity, topology.links);
  return form;
}

ClosedForm hyperx(const Topology& topology) {
  const auto& sizes = topology.arguments[0];
  ClosedForm form;
  form.switches = 1;
  for (std::uint32_t size : sizes) form.switches *= size;
  std::uint32_t neighbours = 0;
  std::uint32_t degree = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    neighbours += sizes[i] - 1;
    degree += (sizes[i] - 1) * (topology.arguments.size() > 1 ? topology.arguments[1][i] : 1) * topology.links;
  }
  form.links = form.switches * degree / 2;
  form.hosts = form.switches;
  form.diameter = static_cast<std::uint32_t>(sizes.size());
  form.vertex_connectivity = neighbours;
  // Where dimensions differ in their parallel links, cutting all those of one dimension can be cheaper.
  const bool alike =
      topology.arguments.size() == 1 ||
      std::ranges::adjacent_find(topology.arguments[1], std::not_equal_to{}) == topology.arguments[1].end();
  if (alike) form.edge_connectivity = degree;
  return form;
}

ClosedForm k_ary_tree(const Topology& topology) {
  const std::uint32_t k = topology.arguments[0][0];
  const std::uint32_t n = topology.arguments[0][1];
  ClosedForm form;
  form.switches = n * power(k, n - 1);
  form.hosts = power(k, n);
  form.links = (n - 1) * power(k, n) * topology.links;
  form.diameter = 2 * (n - 1);
  if (n > 1) set_connectivity(form, k, topology.links);
  return form;
}

/// Of the tree whose level 0 are switches.
ClosedForm tree_of_switches(std::vector<std::uint32_t> m, std::vector<std::uint32_t> w, std::uint32_t links) {
  const std::size_t h = m.size();
  ClosedForm form;
  std::uint32_t least_degree = w.empty() ? 0 : w.front();
  for (std::size_t level = 0; level <= h; ++level) {
    std::uint64_t width = 1;
    for (std::size_t i = 0; i < h; ++i) width *= i < level ? w[i] : m[i];
    form.switches += width;
    const std::uint32_t up = level < h ? w[level] : 0;
    form.links += width * up * links;
    if (level > 0) least_degree = std::min(least_degree, m[level - 1] + up);
    if (level == 0) form.hosts = width;
  }
  if (std::ranges::all_of(m, [](std::uint32_t children) { return children > 1; }))
    form.diameter = static_cast<std::uint32_t>(2 * h);
  if (h > 0 && least_degree == w.front()) set_connectivity(form, w.front(), links);
  return form;
}

ClosedForm generalized_tree(const Topology& topology) {
  std::vector<std::uint32_t> m = topology.arguments[1];
  std::vector<std::uint32_t> w = topology.arguments[2];
  if (topology.hosts || topology.hosts_per_switch) return tree_of_switches(m, w, topology.links);
  const std::uint32_t hosts_per_leaf = m.front();
  m.erase(m.begin());
  w.erase(w.begin());
  ClosedForm form = tree_of_switches(m, w, topology.links);
  form.hosts *= hosts_per_leaf;
  return form;
}

ClosedForm dragonfly(const Topology& topology) {
  const auto& n = topology.arguments[0];
  const std::uint64_t a = n[0];
  const std::uint64_t h = n[2];
  const std::uint64_t g = n[3];
  ClosedForm form;
  form.switches = a * g;
  form.hosts = a * g * n[1];
  const std::uint64_t between = g > 1 ? a * h / (g - 1) : 0;
  form.links = (g * a * (a - 1) / 2 + g * (g - 1) / 2 * between) * topology.links;
  if (a > 1 && h > 0 && g == a * h + 1) {  // every group has one link to every other, and no link is left over
    form.diameter = 3;
    set_connectivity(form, static_cast<std::uint32_t>(a - 1 + h), topology.links);
  }
  return form;
}

ClosedForm dragonfly_plus(const Topology& topology) {
  const auto& n = topology.arguments[0];
  const std::uint64_t leaves = n[0];
  const std::uint64_t spines = n[1];
  const std::uint64_t g = n[4];
  ClosedForm form;
  form.switches = (leaves + spines) * g;
  form.hosts = leaves * g * n[2];
  const std::uint64_t between = g > 1 ? spines * n[3] / (g - 1) : 0;
  form.links = (g * leaves * spines + g * (g - 1) / 2 * between) * topology.links;
  return form;
}

ClosedForm xpander(const Topology& topology) {
  const std::uint64_t d = topology.arguments[0][0];
  const std::uint64_t k = topology.arguments[0][1];
  ClosedForm form;
  form.switches = (d + 1) * k;
  form.hosts = form.switches;
  form.links = (d + 1) * d / 2 * k * topology.links;
  return form;
}

ClosedForm rails(const Topology& topology) {
  const auto& n = topology.arguments[0];
  const bool pods = topology.arguments.size() > 1;
  const std::uint64_t trees = pods ? std::uint64_t{topology.arguments[1][0]} * n[0] : 1;  // whose leaves share spines
  const std::uint64_t leaves = pods ? n[2] : std::uint64_t{n[2]} * n[0];                  // of each
  const std::uint64_t spines = n[3];
  ClosedForm form;
  form.switches = trees * (leaves + spines) + (pods ? spines * topology.arguments[1][1] : 0);
  form.hosts = trees * leaves * n[1];
  form.links = trees * leaves * spines * topology.links * (pods ? 2 : 1);  // as many above the spines as below
  return form;
}

ClosedForm kautz(const Topology& topology) {
  const std::uint32_t d = topology.arguments[0][0];
  const std::uint32_t k = topology.arguments[0][1];
  ClosedForm form;
  form.switches = power(d, k) + power(d, k - 1);
  form.hosts = form.switches;
  form.links = form.switches * d * topology.links;
  form.diameter = k;
  form.edge_connectivity = 2 * d * topology.links;
  // Table II gives 2d here too. But x and y of a word xyxy.. and yxyx.. are linked by arcs both ways: such a switch has
  // 2d - 1 neighbours, which cut it off; with one letter words all d + 1 switches are neighbours of each other.
  form.vertex_connectivity = k == 1 ? d : 2 * d - 1;
  return form;
}

ClosedForm slim_fly(const Topology& topology) {
  const std::uint64_t q = topology.arguments[0][0];
  const std::uint64_t twice_degree = q % 4 == 1 ? 3 * q - 1 : q % 4 == 3 ? 3 * q + 1 : 3 * q;
  ClosedForm form;
  form.switches = 2 * q * q;
  form.links = q * q * twice_degree / 2 * topology.links;
  form.hosts = form.switches * ((twice_degree / 2 + 1) / 2);
  form.diameter = 2;
  set_connectivity(form, static_cast<std::uint32_t>(twice_degree / 2), topology.links);
  return form;
}

ClosedForm random_regular(const Topology& topology) {
  ClosedForm form;
  form.switches = topology.arguments[0][0];
  form.hosts = form.switches;
  form.links = form.switches * topology.arguments[0][1] / 2 * topology.links;
  return form;
}

std::optional<ClosedForm> of_family(const Topology& topology) {
  switch (topology.family) {
    case Family::mesh:
    case Family::torus:
      return grid(topology);
    case Family::hyperx:
      return hyperx(topology);
    case Family::tree:
      return k_ary_tree(topology);
    case Family::xgft:
      return generalized_tree(topology);
    case Family::dragonfly:
      return dragonfly(topology);
    case Family::dragonfly_plus:
      return dragonfly_plus(topology);
    case Family::kautz:
      return kautz(topology);
    case Family::random:
      return random_regular(topology);
    case Family::slimfly:
      return slim_fly(topology);
    case Family::xpander:
      return xpander(topology);
    case Family::rails:
      return rails(topology);
    case Family::tsubame2:
    case Family::deimos:
    case Family::frontera:
    case Family::summit:
    case Family::sierra:
    case Family::abci:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ClosedForm> closed_form(const Topology& topology) {
  if (topology.planes != 1) return std::nullopt;
  std::optional<ClosedForm> form = of_family(topology);
  if (!form) return form;
  if (topology.hosts) form->hosts = *topology.hosts;
  if (topology.hosts_per_switch) {
    std::uint64_t leaves = form->switches;
    if (topology.family == Family::tree) leaves = power(topology.arguments[0][0], topology.arguments[0][1] - 1);
    if (topology.family == Family::xgft) leaves = form->hosts;
    if (topology.family == Family::dragonfly_plus)
      leaves = std::uint64_t{topology.arguments[0][0]} * topology.arguments[0][4];
    form->hosts = leaves * *topology.hosts_per_switch;
  }
  return form;
}

}  // namespace holdfast::fabric
