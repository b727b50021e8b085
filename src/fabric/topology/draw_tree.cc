#include <algorithm>
#include <string>

#include "fabric/topology/blueprint.h"

namespace holdfast::fabric {
namespace {

/// An extended generalized fat tree of switches: XGFT(h; m1..mh; w1..wh) of S. Oehring, M. Ibel, S. Das, M. Kumar, "On
/// Generalized Fat Trees", IPPS 1995. A node of level l has a label of h digits; digit i (from 1) is below w_i up to
/// level l and below m_i above it. Nodes of levels l - 1 and l are linked when their labels agree but for digit l.
struct Tree {
  std::vector<std::uint32_t> m;
  std::vector<std::uint32_t> w;
  std::uint32_t hosts_per_leaf = 1;

  std::size_t height() const { return m.size(); }
  std::uint32_t base(std::size_t level, std::size_t digit) const { return digit < level ? w[digit] : m[digit]; }
  std::uint64_t width(std::size_t level) const {
    std::uint64_t nodes = 1;
    for (std::size_t digit = 0; digit < height(); ++digit) nodes = product(nodes, base(level, digit));
    return nodes;
  }
};

Result<Tree> k_ary_tree(const Topology& topology) {
  const std::uint32_t k = topology.arguments[0][0];
  const std::uint32_t levels = topology.arguments[0][1];
  if (k < 2 || levels < 1)
    return cannot_generate(topology, "a k-ary n-tree needs k of 2 or more and n of 1 or more", "as in tree(16,2)");
  if (levels > 24) return cannot_generate(topology, "more than 24 levels", "give fewer");
  Tree tree;
  tree.m.assign(levels - 1, k);
  tree.w.assign(levels - 1, k);
  tree.hosts_per_leaf = k;
  return tree;
}

Result<Tree> generalized_tree(const Topology& topology) {
  const auto& lists = topology.arguments;
  const std::uint32_t h = lists[0][0];
  if (lists[0].size() != 1 || h < 1 || h > 24 || lists[1].size() != h || lists[2].size() != h)
    return cannot_generate(topology, "the lists do not fit the height",
                           "write xgft(h;m1,...,mh;w1,...,wh), as in xgft(2;4,3;1,2)");
  if (std::ranges::count(lists[1], 0U) + std::ranges::count(lists[2], 0U) > 0)
    return cannot_generate(topology, "a number of children or parents is 0", "give 1 or more");
  Tree tree{lists[1], lists[2], 1};
  if (topology.hosts || topology.hosts_per_switch) return tree;
  if (tree.w[0] != 1)
    return cannot_generate(topology, "level 0 are hosts, and a host has one cable, so w1 must be 1",
                           "give hosts=N to make level 0 switches with N hosts below them");
  tree.hosts_per_leaf = tree.m[0];
  tree.m.erase(tree.m.begin());
  tree.w.erase(tree.w.begin());
  return tree;
}

/// The number of a node in its level: digit 1 counts fastest, so that leaves in a row share their parents.
std::uint32_t number_of(const Tree& tree, std::size_t level, const std::vector<std::uint32_t>& digits) {
  std::uint32_t number = 0;
  for (std::size_t digit = tree.height(); digit > 0; --digit)
    number = number * tree.base(level, digit - 1) + digits[digit - 1];
  return number;
}

void split(const Tree& tree, std::size_t level, std::uint32_t number, std::vector<std::uint32_t>& digits) {
  for (std::size_t digit = 0; digit < tree.height(); ++digit) {
    digits[digit] = number % tree.base(level, digit);
    number /= tree.base(level, digit);
  }
}

/// Ports of a switch: down to its children by their digit, then up to its parents by theirs. A leaf has only those up.
void draw_links_up(Blueprint& plan, const Tree& tree, std::size_t level, std::uint32_t from,
                   std::vector<std::uint32_t> digits, std::uint32_t first_above, std::uint32_t copies) {
  const std::uint32_t child = digits[level];
  const std::uint32_t down = level == 0 ? 0 : tree.m[level - 1] * copies;
  for (std::uint32_t parent = 0; parent < tree.w[level]; ++parent) {
    digits[level] = parent;
    plan.add_cables(from, down + parent * copies + 1, first_above + number_of(tree, level + 1, digits),
                    child * copies + 1, copies);
  }
}

void draw_level(Blueprint& plan, const Tree& tree, std::size_t level, std::uint32_t copies) {
  const auto width = static_cast<std::uint32_t>(tree.width(level));
  const std::uint32_t first = plan.switches;
  std::vector<std::uint32_t> digits(tree.height());
  for (std::uint32_t number = 0; number < width; ++number) {
    split(tree, level, number, digits);
    plan.structure.coordinates.push_back(static_cast<std::uint32_t>(level));
    plan.structure.coordinates.insert(plan.structure.coordinates.end(), digits.begin(), digits.end());
    if (level < tree.height()) draw_links_up(plan, tree, level, first + number, digits, first + width, copies);
  }
  plan.switches += width;
}

}  // namespace

Result<Blueprint> draw_tree(const Topology& topology) {
  Result<Tree> planned = topology.family == Family::tree ? k_ary_tree(topology) : generalized_tree(topology);
  if (!planned.ok()) return planned.status();
  const Tree& tree = planned.value();
  std::uint64_t switches = 0;
  std::uint64_t cables = 0;
  for (std::size_t level = 0; level <= tree.height(); ++level) {
    switches += std::min(tree.width(level), most_switches + 1);
    if (level < tree.height())
      cables += std::min(product(tree.width(level), std::uint64_t{tree.w[level]} * topology.links), most_cables + 1);
  }
  if (Status status = check_size(topology, switches, cables); !status.ok()) return status;
  Blueprint plan;
  plan.structure.shape = Shape::tree;
  plan.structure.extent.push_back(static_cast<std::uint32_t>(tree.height() + 1));
  for (std::size_t i = 0; i < tree.height(); ++i) plan.structure.extent.push_back(std::max(tree.m[i], tree.w[i]));
  for (std::size_t level = 0; level <= tree.height(); ++level) draw_level(plan, tree, level, topology.links);
  for (std::uint32_t leaf = 0; leaf < tree.width(0); ++leaf) plan.host_switches.push_back(leaf);
  plan.hosts.assign(plan.host_switches.size(), tree.hosts_per_leaf);
  plan.hosts_first = true;
  return plan;
}

}  // namespace holdfast::fabric
