#include "fabric/formats/slurm_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <unordered_set>

#include "fabric/formats/node_name.h"
#include "fabric/topology/hosts.h"
#include "fabric/topology/levels.h"

namespace holdfast::fabric {

namespace {

std::string host_name(const Node& node) {
  return node.name.substr(0, node.name.find_first_of(" .\t"));
}

/// Whether firmware or a switch gave the name, which nobody set then.
bool is_a_devices_own(const Node& node) {
  return is_aggregation_node(node) || node.name.find("Mellanox Technologies") != std::string::npos;
}

bool is_host_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '-' || letter == '_';
  });
}

std::uint32_t root_of(std::vector<std::uint32_t>& parent, std::uint32_t node) {
  while (parent[node] != node) node = parent[node] = parent[parent[node]];
  return node;
}

/// Groups of switches, by NodeId, that are connected by links among switches of at most this level.
std::vector<std::uint32_t> groups_up_to(const Fabric& fabric, const std::vector<std::uint32_t>& levels,
                                        std::uint32_t top) {
  std::vector<std::uint32_t> parent(fabric.nodes().size());
  std::iota(parent.begin(), parent.end(), 0U);
  for (const Link& link : fabric.links()) {
    const NodeId a = fabric.port(link.a).node;
    const NodeId b = fabric.port(link.b).node;
    if (link.up && fabric.is_switch(a) && fabric.is_switch(b) && levels[a] <= top && levels[b] <= top)
      parent[root_of(parent, a)] = root_of(parent, b);
  }
  for (NodeId id = 0; id < parent.size(); ++id) parent[id] = root_of(parent, id);
  return parent;
}

/// For every layer above the leaves, the group of each switch. The last layer, the root of all, is not in it.
std::vector<std::vector<std::uint32_t>> layers_of(const Fabric& fabric) {
  std::vector<std::vector<std::uint32_t>> layers;
  if (fabric.structure().shape == Shape::dragonfly) {
    layers.emplace_back(fabric.nodes().size());
    for (NodeId id = 0; id < fabric.switch_count(); ++id) layers[0][id] = fabric.structure().at(id)[0];
    return layers;
  }
  const auto levels = tree_levels(fabric);
  if (!levels) return layers;
  const std::uint32_t top = *std::ranges::max_element(*levels);
  for (std::uint32_t level = 1; level < top; ++level) layers.push_back(groups_up_to(fabric, *levels, level));
  return layers;
}

struct Block {
  std::string name;
  NodeId sample;  ///< one of its switches
};

/// One line a group of the layer, with the blocks of the layer below in it.
std::vector<Block> add_layer(std::string& text, const std::vector<Block>& below,
                             const std::vector<std::uint32_t>& group, std::size_t number) {
  std::map<std::uint32_t, std::vector<std::string>> members;
  std::map<std::uint32_t, NodeId> sample;
  std::vector<std::uint32_t> order;
  for (const Block& block : below) {
    if (sample.try_emplace(group[block.sample], block.sample).second) order.push_back(group[block.sample]);
    members[group[block.sample]].push_back(block.name);
  }
  std::vector<Block> made;
  for (std::uint32_t id : order) {
    made.push_back({fmt::format("level{}-{}", number, made.size()), sample[id]});
    text += "SwitchName=" + made.back().name + " Switches=" + short_host_list(members[id]) + "\n";
  }
  return made;
}

}  // namespace

std::string short_host_list(std::vector<std::string> names) {
  struct Numbered {
    std::string digits;
    std::uint64_t value;
  };
  std::map<std::string, std::vector<Numbered>> by_prefix;
  std::vector<std::string> order;
  std::string list;
  for (const std::string& name : names) {
    std::size_t at = name.size();
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9' && name.size() - at < 15) --at;
    if (at == 0 || at == name.size()) {
      list += (list.empty() ? "" : ",") + name;
      continue;
    }
    Numbered number{name.substr(at), 0};
    std::from_chars(number.digits.data(), number.digits.data() + number.digits.size(), number.value);
    auto [entry, fresh] = by_prefix.try_emplace(name.substr(0, at));
    if (fresh) order.push_back(name.substr(0, at));
    entry->second.push_back(number);
  }
  for (const std::string& prefix : order) {
    std::vector<Numbered>& numbers = by_prefix[prefix];
    std::ranges::sort(numbers, [](const Numbered& a, const Numbered& b) {
      return std::pair(a.digits.size(), a.value) < std::pair(b.digits.size(), b.value);
    });
    std::string inside;
    for (std::size_t i = 0; i < numbers.size();) {
      std::size_t end = i;
      while (end + 1 < numbers.size() && numbers[end + 1].value == numbers[end].value + 1 &&
             (numbers[end + 1].digits.size() == numbers[i].digits.size() ||
              (numbers[i].digits[0] != '0' && numbers[end + 1].digits[0] != '0')))
        ++end;
      inside += (inside.empty() ? "" : ",") + numbers[i].digits + (end > i ? "-" + numbers[end].digits : "");
      i = end + 1;
    }
    if (!list.empty()) list += ',';
    list += numbers.size() > 1 ? prefix + "[" + inside + "]" : prefix + inside;
  }
  return list;
}

Result<std::string> write_slurm_topology(const Fabric& fabric) {
  std::map<NodeId, std::vector<std::string>> hosts;  // by switch, in the order of ids
  std::unordered_set<std::string> placed;
  std::string left_out;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (fabric.is_switch(id)) continue;
    const std::string name = host_name(fabric.node(id));
    if (!is_host_name(name) || is_a_devices_own(fabric.node(id))) {
      left_out += "# left out, no host's name: " + clean_name(fabric.node(id).name) + "\n";
      continue;
    }
    for (std::uint32_t number = 1; number <= fabric.node(id).port_count; ++number) {
      const PortId peer = fabric.peer(fabric.node(id).first_port + number);
      if (peer == none || !fabric.is_switch(fabric.port(peer).node) || !placed.insert(name).second) continue;
      hosts[fabric.port(peer).node].push_back(name);
    }
  }
  if (hosts.empty() && !left_out.empty())
    return Status(Code::bad_input, "writing topology.conf", "no adapter's name begins with a host's",
                  "set node descriptions on the hosts, or discover with a node name map");
  if (hosts.empty())
    return Status(Code::bad_input, "writing topology.conf", "no host has a working link to a switch",
                  "give another fabric");
  std::string text = "# topology.conf for Slurm's topology/tree, written by Holdfast\n" + left_out;
  std::vector<Block> blocks;
  for (const auto& [at, names] : hosts) {
    blocks.push_back({fmt::format("leaf{}", blocks.size()), at});
    text += "# " + clean_name(fabric.node(at).name) + "\nSwitchName=" + blocks.back().name +
            " Nodes=" + short_host_list(names) + "\n";
  }
  const auto layers = layers_of(fabric);
  for (std::size_t i = 0; i < layers.size(); ++i) blocks = add_layer(text, blocks, layers[i], i + 1);
  if (blocks.size() > 1)
    add_layer(text, blocks, std::vector<std::uint32_t>(fabric.nodes().size(), 0), layers.size() + 1);
  return text;
}

}  // namespace holdfast::fabric
