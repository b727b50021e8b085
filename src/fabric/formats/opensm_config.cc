#include "fabric/formats/opensm_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "fabric/formats/cursor.h"
#include "fabric/routing/graph/grid.h"

namespace holdfast::fabric {

namespace {

std::unordered_map<std::uint64_t, NodeId> switches_by_guid(const Fabric& fabric) {
  std::unordered_map<std::uint64_t, NodeId> switches;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (fabric.is_switch(id)) switches.try_emplace(fabric.node(id).guid, id);
  }
  return switches;
}

class TorusConfigReader {
 public:
  TorusConfigReader(std::string_view text, std::string_view name, const Fabric& fabric)
      : lines_(text), name_(name), switches_(switches_by_guid(fabric)) {}

  Result<TorusConfig> read() {
    while (lines_.next()) {
      std::string_view line = lines_.line();
      Cursor cursor(name_, lines_.number(), line.substr(0, line.find('#')));
      cursor.skip_blanks();
      if (cursor.at_end()) continue;
      if (Status status = read_line(cursor); !status.ok()) return status;
    }
    if (!sized_)
      return Status(Code::bad_input, "reading " + std::string(name_), "no torus or mesh line in it",
                    "as in torus 5 5 5");
    return config_;
  }

 private:
  Status read_line(Cursor& cursor) {
    const Cursor start = cursor;
    const std::string_view key = cursor.word();
    if (key == "torus" || key == "mesh") return read_size(cursor, key == "torus");
    if (!sized_) return start.wrong("the torus or mesh line must come first", "as in torus 5 5 5");
    if (key == "next_seed") {
      config_.seeds.emplace_back();
      return {};
    }
    if (key.size() == 7 && key.ends_with("_link") && key[0] >= 'x' && key[0] <= 'z' && (key[1] == 'p' || key[1] == 'm'))
      return read_link(cursor, static_cast<std::size_t>(key[0] - 'x'), key[1] == 'p');
    if (key == "portgroup_max_ports") {
      cursor.skip_blanks();
      const auto count = cursor.decimal();
      if (!count || *count == 0 || *count > 254) return cursor.wrong("expected a number of ports, from 1 to 254");
      config_.max_ports_in_group = static_cast<std::uint32_t>(*count);
      return {};
    }
    if (key.size() == 10 && key.ends_with("_dateline") && key[0] >= 'x' && key[0] <= 'z')
      return read_dateline(cursor, static_cast<std::size_t>(key[0] - 'x'));
    if (key == "port_order" || key == "max_changes") return {};
    return start.wrong("there is no keyword '" + std::string(key.substr(0, 40)) + "'", "see torus-2QoS.conf(5)");
  }

  /// "torus 5 5m 1": a suffix m or t overrules the first word.
  Status read_size(Cursor& cursor, bool looped) {
    for (std::size_t d = 0; d < 3; ++d) {
      cursor.skip_blanks();
      const auto size = cursor.decimal();
      if (!size || *size == 0 || *size > 1000)
        return cursor.wrong("expected three sizes from 1 to 1000", "as in torus 5 5 1");
      config_.size[d] = static_cast<std::uint32_t>(*size);
      config_.looped[d] = looped;
      if (cursor.take('m') || cursor.take('M')) config_.looped[d] = false;
      if (cursor.take('t') || cursor.take('T')) config_.looped[d] = true;
    }
    sized_ = true;
    config_.seeds.assign(1, {});
    return {};
  }

  Status read_link(Cursor& cursor, std::size_t direction, bool forward) {
    std::array<NodeId, 2> ends{};
    for (NodeId& end : ends) {
      cursor.skip_blanks();
      const Cursor start = cursor;
      const auto guid = cursor.hexadecimal();
      const auto found = guid ? switches_.find(*guid) : switches_.end();
      if (found == switches_.end())
        return start.wrong("expected the GUID of a switch of the fabric", "as in 0x0002c90000000001");
      end = found->second;
    }
    TorusConfig::Seed& seed = config_.seeds.back();
    if (seed.at != none && seed.at != ends[0]) return cursor.wrong("the links of a seed start at different switches");
    seed.at = ends[0];
    (forward ? seed.next : seed.previous)[direction] = ends[1];
    return {};
  }

  Status read_dateline(Cursor& cursor, std::size_t direction) {
    cursor.skip_blanks();
    const Cursor start = cursor;
    const bool behind = cursor.take('-');
    const auto position = cursor.decimal();
    if (!position || *position >= config_.size[direction])
      return start.wrong("expected a position less than the size of the dimension, or minus one");
    config_.seeds.back().dateline[direction] =
        behind ? -static_cast<std::int32_t>(*position) : static_cast<std::int32_t>(*position);
    return {};
  }

  Lines lines_;
  std::string_view name_;
  std::unordered_map<std::uint64_t, NodeId> switches_;
  TorusConfig config_;
  bool sized_ = false;
};

}  // namespace

Result<std::vector<NodeId>> read_root_guids(std::string_view text, std::string_view name, const Fabric& fabric) {
  const auto switches = switches_by_guid(fabric);
  std::vector<NodeId> roots;
  Lines lines(text);
  while (lines.next()) {
    Cursor cursor(name, lines.number(), lines.line());
    cursor.skip_blanks();
    if (cursor.at_end() || cursor.peek() == '#') continue;
    const Cursor start = cursor;
    const auto guid = cursor.hexadecimal();
    if (!guid) return start.wrong("expected a GUID", "as in 0x0002c90000000001");
    const auto found = switches.find(*guid);
    if (found == switches.end()) return start.wrong("no switch of the fabric has this GUID", "leave the line out");
    roots.push_back(found->second);
  }
  return roots;
}

std::string write_root_guids(const Fabric& fabric, const std::vector<NodeId>& roots) {
  std::string text;
  for (NodeId root : roots) text += fmt::format("0x{:016x}\n", fabric.node(root).guid);
  return text;
}

Result<TorusConfig> read_torus_config(std::string_view text, std::string_view name, const Fabric& fabric) {
  return TorusConfigReader(text, name, fabric).read();
}

std::string write_torus_config(const Fabric& fabric, const TorusConfig& config) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  const bool torus = std::ranges::any_of(config.looped, [](bool looped) { return looped; });
  fmt::format_to(out, "{}", torus ? "torus" : "mesh");
  for (std::size_t d = 0; d < 3; ++d)
    fmt::format_to(out, " {}{}", config.size[d], config.looped[d] == torus ? "" : config.looped[d] ? "t" : "m");
  text.push_back('\n');
  for (std::size_t i = 0; i < config.seeds.size(); ++i) {
    const TorusConfig::Seed& seed = config.seeds[i];
    if (i > 0) fmt::format_to(out, "next_seed\n");
    for (std::size_t d = 0; d < 3; ++d) {
      for (bool forward : {true, false}) {
        const NodeId neighbour = (forward ? seed.next : seed.previous)[d];
        if (neighbour == none) continue;
        fmt::format_to(out, "{}{}_link 0x{:016x} 0x{:016x}\n", "xyz"[d], forward ? 'p' : 'm', fabric.node(seed.at).guid,
                       fabric.node(neighbour).guid);
      }
      if (seed.dateline[d] != 0) fmt::format_to(out, "{}_dateline {}\n", "xyz"[d], seed.dateline[d]);
    }
  }
  fmt::format_to(out, "portgroup_max_ports {}\n", config.max_ports_in_group);
  return fmt::to_string(text);
}

namespace {

bool joined(const Fabric& fabric, NodeId a, NodeId b) {
  for (std::uint32_t number = 1; number <= fabric.node(a).port_count; ++number) {
    const PortId peer = fabric.peer(fabric.node(a).first_port + number);
    if (peer != none && fabric.port(peer).node == b) return true;
  }
  return false;
}

/// A seed at this switch, if all links that it needs work.
std::optional<TorusConfig::Seed> seed_at(const Fabric& fabric, const Structure& structure, NodeId at) {
  TorusConfig::Seed seed;
  seed.at = at;
  for (std::size_t d = 0; d < structure.extent.size(); ++d) {
    const auto extent = static_cast<std::int32_t>(structure.extent[d]);
    if (extent < 2) continue;
    seed.next[d] = switch_along(structure, at, d, 1);
    if (seed.next[d] == none || !joined(fabric, at, seed.next[d])) return std::nullopt;
    if (structure.shape == Shape::torus && extent == 4) {
      seed.previous[d] = switch_along(structure, at, d, -1);
      if (!joined(fabric, at, seed.previous[d])) return std::nullopt;
    }
    seed.dateline[d] = (extent - static_cast<std::int32_t>(structure.at(at)[d])) % extent;
  }
  return seed;
}

/// No group of parallel links, or of a switch's hosts, is larger than a switch.
std::uint32_t most_ports(const Fabric& fabric) {
  std::uint32_t most = TorusConfig{}.max_ports_in_group;
  for (NodeId node = 0; node < fabric.switch_count(); ++node)
    most = std::max<std::uint32_t>(most, fabric.node(node).port_count);
  return most;
}

}  // namespace

Result<TorusConfig> torus_config_of(const Fabric& fabric) {
  const std::optional<Structure> found = find_grid_structure(fabric);
  if (!found || found->extent.empty() || found->extent.size() > 3)
    return Status(Code::bad_input, "writing the configuration of torus-2QoS",
                  "the fabric is no mesh or torus of at most 3 dimensions",
                  "generate one, as torus(5,5), or choose another engine");
  TorusConfig config;
  for (std::size_t d = 0; d < 3; ++d) {
    config.looped[d] = found->shape == Shape::torus;
    if (d < found->extent.size()) config.size[d] = found->extent[d];
  }
  config.max_ports_in_group = most_ports(fabric);
  for (NodeId at = 0; at < fabric.switch_count(); ++at) {
    if (const auto seed = seed_at(fabric, *found, at)) {
      config.seeds.push_back(*seed);
      return config;
    }
  }
  return Status(Code::bad_input, "writing the configuration of torus-2QoS",
                "no switch has working links to all its neighbours", "choose another engine");
}

}  // namespace holdfast::fabric
