#include "fabric/formats/subnet_list.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/input/lines.h"
#include "fabric/formats/cursor.h"
#include "fabric/formats/lid_notes.h"
#include "fabric/formats/node_budget.h"
#include "fabric/formats/node_name.h"
#include "fabric/formats/notes.h"

namespace holdfast::fabric {
namespace {

/// One half of a line: a node and its port.
struct End {
  bool is_switch = false;
  bool is_router = false;
  std::uint64_t ports = 0, system_guid = 0, node_guid = 0, port_guid = 0, vendor_id = 0, device_id = 0, lid = 0,
                port = 0;
  std::string_view name;
};

struct SpeedName {
  std::string_view text;
  LaneSpeed speed;
};
/// Longer names first: "2.5" is not "25".
constexpr std::array<SpeedName, 9> speeds{{{"FDR10", LaneSpeed::fdr10},
                                           {"2.5", LaneSpeed::sdr},
                                           {"200", LaneSpeed::xdr},
                                           {"100", LaneSpeed::ndr},
                                           {"50", LaneSpeed::hdr},
                                           {"25", LaneSpeed::edr},
                                           {"14", LaneSpeed::fdr},
                                           {"10", LaneSpeed::qdr},
                                           {"5", LaneSpeed::ddr}}};

Status read_field(Cursor& cursor, std::string_view key, std::uint64_t most, std::uint64_t& value) {
  cursor.skip_blanks();
  if (!cursor.take(key)) return cursor.wrong("expected '" + std::string(key) + "'", "as OpenSM writes it");
  const std::optional<std::uint64_t> number = cursor.hexadecimal();
  if (!number || *number > most) return cursor.wrong("expected hexadecimal digits after " + std::string(key));
  value = *number;
  return {};
}

/// "{ SW-SM Ports:24 SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:.. Rev:.. {name} LID:0001 PN:01 }"
Status read_end(Cursor& cursor, End& end) {
  cursor.skip_blanks();
  if (!cursor.take('{')) return cursor.wrong("expected '{' and a node", "as OpenSM writes it");
  cursor.skip_blanks();
  const std::string_view type = cursor.word();
  if (!type.starts_with("SW") && !type.starts_with("CA") && !type.starts_with("Rt"))
    return cursor.wrong("expected SW, CA or Rt", "as OpenSM writes it");
  end.is_switch = type.starts_with("SW");
  end.is_router = type.starts_with("Rt");
  constexpr std::uint64_t any = ~std::uint64_t{0};
  std::uint64_t revision = 0;
  const std::array<std::tuple<std::string_view, std::uint64_t, std::uint64_t*>, 7> fields{
      {{"Ports:", 254, &end.ports},
       {"SystemGUID:", any, &end.system_guid},
       {"NodeGUID:", any, &end.node_guid},
       {"PortGUID:", any, &end.port_guid},
       {"VenID:", 0xFFFFFFFF, &end.vendor_id},
       {"DevID:", 0xFFFFFFFF, &end.device_id},
       {"Rev:", 0xFFFFFFFF, &revision}}};
  for (const auto& [key, most, value] : fields) {
    if (Status status = read_field(cursor, key, most, *value); !status.ok()) return status;
  }
  cursor.skip_blanks();
  constexpr std::string_view behind_name = "} LID:";
  const std::size_t close = cursor.rest().find(behind_name);
  if (!cursor.take('{') || close == std::string_view::npos)
    return cursor.wrong("expected the node's description in braces");
  end.name = cursor.rest().substr(0, close - 1);
  cursor.skip(close);
  if (Status status = read_field(cursor, "LID:", 0xFFFF, end.lid); !status.ok()) return status;
  if (Status status = read_field(cursor, "PN:", 254, end.port); !status.ok()) return status;
  cursor.skip_blanks();
  if (!cursor.take('}')) return cursor.wrong("expected '}'");
  if (end.ports == 0 || end.port == 0 || end.port > end.ports)
    return cursor.wrong("port " + std::to_string(end.port) + " of a node with " + std::to_string(end.ports) + " ports");
  if (end.node_guid == 0) return cursor.wrong("a node with GUID 0");
  return {};
}

class SubnetListReader {
 public:
  SubnetListReader(std::string_view text, std::string_view file)
      : lines_(text), file_(file), cut_short_(lacks_last_line_end(text)), notes_(file) {}

  Result<Imported> read() {
    while (lines_.next()) {
      Cursor cursor(file_, lines_.number(), lines_.line());
      cursor.skip_blanks();
      if (cursor.at_end()) continue;
      if (cursor.peek() != '{' && is_from_another_program(cursor.rest())) {
        note("another program", "a line of another program, left out: " + std::string(lines_.line().substr(0, 120)));
        continue;
      }
      const Status status = read_link(cursor);
      if (!status.ok() && !(cut_short_ && lines_.at_end())) return status;
      if (!status.ok())
        note("cut short", "the file ends in the middle of this line, which is left out (" + status.wrong() +
                              "): was the file cut short?");
    }
    if (imported_.fabric.nodes().empty())
      return Status(Code::bad_input, "reading " + std::string(file_), "no link in it", "give opensm-subnet.lst");
    set_names();
    if (imported_.fabric.top_lid() == 0) imported_.fabric.assign_lids();
    note_odd_lids(imported_.fabric, notes_);
    imported_.notes = notes_.texts();
    return std::move(imported_);
  }

 private:
  /// "{ one end } { the other } PHY=4x LOG=ACT SPD=10"
  Status read_link(Cursor& cursor) {
    End here;
    End there;
    if (Status status = read_end(cursor, here); !status.ok()) return status;
    if (Status status = read_end(cursor, there); !status.ok()) return status;
    LinkRate rate;
    cursor.skip_blanks();
    if (cursor.take("PHY=")) {
      const std::optional<LinkRate> width = find_rate(std::string(cursor.word()) + "SDR");
      if (width) rate.lanes = width->lanes;
    }
    cursor.skip_blanks();
    bool up = true;
    if (cursor.take("LOG=")) up = cursor.word() != "DWN";
    cursor.skip_blanks();
    if (cursor.take("SPD=")) {
      const std::string_view text = cursor.word();
      for (const SpeedName& row : speeds) {
        if (text == row.text) rate.speed = row.speed;
      }
    }
    PortId a = none;
    PortId b = none;
    if (Status status = find_port(cursor, here, true, a); !status.ok()) return status;
    if (Status status = find_port(cursor, there, false, b); !status.ok()) return status;
    connect(a, b, rate, up);
    return {};
  }

  void connect(PortId a, PortId b, LinkRate rate, bool up) {
    Fabric& fabric = imported_.fabric;
    if (a == b) {
      note("own port", "a port that is cabled to itself, left out");
      return;
    }
    const LinkId known = fabric.port(a).link;
    if (known != fabric.port(b).link) {
      note("ends", "the two ends of a cable disagree, or two cables share a port; the first line holds");
      return;
    }
    const LinkId link = known == none ? fabric.add_link(a, b, rate) : known;
    fabric.set_link_up(link, fabric.link(link).up && up);
    fabric.mutable_port(a).capable = rate;
    fabric.mutable_port(b).capable = rate;
  }

  /// OpenSM prints the second node's device id in the upper half of its field.
  Status find_port(const Cursor& cursor, const End& end, bool first, PortId& port) {
    Fabric& fabric = imported_.fabric;
    const auto fresh_id = static_cast<NodeId>(fabric.nodes().size());
    const auto [known, fresh] = nodes_.try_emplace(end.node_guid, fresh_id);
    if (fresh) {
      if (Status status = budget_.afford(file_, end.ports); !status.ok()) return status;
      fabric.add_node(end.is_switch ? NodeKind::switch_ : NodeKind::adapter, static_cast<std::uint8_t>(end.ports),
                      std::string(end.name), end.node_guid);
      fabric.mutable_node(fresh_id).system_guid = end.system_guid;
      if (end.is_router) note("router", "router \"" + std::string(end.name) + "\" is taken as a channel adapter");
    }
    const NodeId id = known->second;
    Node& node = fabric.mutable_node(id);
    if (node.port_count != end.ports || fabric.is_switch(id) != end.is_switch)
      return cursor.wrong("a node that was another one in a line before");
    if (fresh || first) {
      node.vendor_id = static_cast<std::uint32_t>(end.vendor_id);
      node.device_id = static_cast<std::uint32_t>(end.device_id > 0xFFFF ? end.device_id >> 16 : end.device_id);
    }
    port = node.first_port + static_cast<PortId>(end.port);
    if (const Lid before = fabric.port(port).lid; before != 0) {
      if (before != end.lid)
        note("another LID", "LID " + std::to_string(end.lid) + " of \"" + std::string(end.name) + "\", which was " +
                                std::to_string(before) + " in a line before; the first holds");
      return {};
    }
    for (PortId each = end.is_switch ? node.first_port : port;
         each <= (end.is_switch ? node.first_port + node.port_count : port); ++each) {
      fabric.mutable_port(each).lid = static_cast<Lid>(end.lid);
      fabric.mutable_port(each).guid = end.port_guid;
    }
    return {};
  }

  void set_names() {
    std::unordered_map<std::string, int> uses;
    for (const Node& node : imported_.fabric.nodes()) ++uses[node.name];
    for (NodeId id = 0; id < imported_.fabric.nodes().size(); ++id) {
      Node& node = imported_.fabric.mutable_node(id);
      if (node.name.empty())
        node.name = node_id(node);
      else if (uses[node.name] > 1)
        node.name += fmt::format(" 0x{:016x}", node.guid);
    }
  }

  void note(std::string_view kind, std::string text) { notes_.add(kind, lines_.number(), std::move(text)); }

  Lines lines_;
  NodeBudget budget_;
  std::string_view file_;
  bool cut_short_;  // the last line has no end
  Notes notes_;
  Imported imported_;
  std::unordered_map<std::uint64_t, NodeId> nodes_;
};

void write_end(fmt::memory_buffer& text, const Fabric& fabric, PortId id) {
  const Port& port = fabric.port(id);
  const Node& node = fabric.node(port.node);
  fmt::format_to(std::back_inserter(text),
                 "{{ {} Ports:{:02X} SystemGUID:{:016x} NodeGUID:{:016x} PortGUID:{:016x} VenID:{:06X} DevID:{:04X} "
                 "Rev:000000A1 {{{}}} LID:{:04X} PN:{:02X} }} ",
                 node.kind == NodeKind::switch_ ? "SW" : "CA", node.port_count, node.system_guid, node.guid, port.guid,
                 node.vendor_id, node.device_id, clean_name(node.name), port.lid, fabric.number_of(id));
}

std::string_view speed_text(LaneSpeed speed) {
  for (const SpeedName& row : speeds) {
    if (row.speed == speed) return row.text;
  }
  return "??";
}

}  // namespace

bool is_subnet_list(std::string_view text) {
  Lines lines(text);
  for (int looked_at = 0; looked_at < 20 && lines.next();) {  // behind what other programs said
    const std::size_t from = lines.line().find_first_not_of(" \t");
    if (from == std::string_view::npos) continue;
    if (lines.line()[from] == '{') return true;
    if (!is_from_another_program(lines.line().substr(from))) return false;
    ++looked_at;
  }
  return false;
}

Result<Imported> read_subnet_list(std::string_view text, std::string_view name) {
  return SubnetListReader(text, name).read();
}

std::string write_subnet_list(const Fabric& fabric) {
  fmt::memory_buffer text;
  for (NodeKind kind : {NodeKind::switch_, NodeKind::adapter}) {
    for (const Node& node : fabric.nodes()) {
      for (std::uint32_t number = 1; node.kind == kind && number <= node.port_count; ++number) {
        const PortId here = node.first_port + number;
        const PortId there = fabric.peer(here);
        if (there == none) continue;
        write_end(text, fabric, here);
        write_end(text, fabric, there);
        const LinkRate rate = fabric.link(fabric.port(here).link).rate;
        fmt::format_to(std::back_inserter(text), "PHY={}x LOG=ACT SPD={}\n", rate.lanes, speed_text(rate.speed));
      }
    }
  }
  return fmt::to_string(text);
}

}  // namespace holdfast::fabric
