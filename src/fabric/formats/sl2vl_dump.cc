#include <fmt/format.h>

#include <iterator>
#include <unordered_map>

#include "fabric/formats/cursor.h"
#include "fabric/formats/forwarding_tables.h"
#include "fabric/formats/node_name.h"

namespace holdfast::fabric {
namespace {

constexpr std::string_view header = "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15";
constexpr std::string_view separator = "#--------------------------------------------------------";

/// "5   2   : 0  1  2 ..."
Status read_lane_line(Cursor& cursor, std::uint32_t ports, std::uint8_t& in, std::uint8_t& out, LaneMap& map) {
  for (std::uint8_t* number : {&in, &out}) {
    cursor.skip_blanks();
    const std::optional<std::uint64_t> value = cursor.decimal();
    if (!value || *value > ports) return cursor.wrong("expected a port from 0 to " + std::to_string(ports));
    *number = static_cast<std::uint8_t>(*value);
  }
  cursor.skip_blanks();
  if (!cursor.take(':')) return cursor.wrong("expected ':'", "as in 5 2 : 0 1 2 ...");
  for (std::uint8_t& lane : map) {
    cursor.skip_blanks();
    const std::optional<std::uint64_t> value = cursor.decimal();
    if (!value || *value > 15) return cursor.wrong("expected 16 lanes from 0 to 15");
    lane = static_cast<std::uint8_t>(*value);
  }
  return {};
}

}  // namespace

Status read_sl2vl(std::string_view text, std::string_view name, const Fabric& fabric, ImportedTables& tables) {
  std::unordered_map<std::uint64_t, NodeId> switches;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (!fabric.is_switch(id)) continue;
    switches.try_emplace(fabric.port(fabric.port_of(id, 0)).guid, id);
    switches.try_emplace(fabric.node(id).guid, id);
  }
  NodeId node = none;
  bool known = false;  // whether lines of a switch of the fabric follow
  std::size_t maps = 0;
  std::size_t strangers = 0;
  Lines lines(text);
  while (lines.next()) {
    Cursor cursor(name, lines.number(), lines.line());
    cursor.skip_blanks();
    if (cursor.at_end() || cursor.peek() == '#') continue;
    if (cursor.take("Switch ")) {
      const std::optional<std::uint64_t> guid = cursor.hexadecimal();
      if (!guid) return cursor.wrong("expected the switch's port GUID", "as in Switch 0x0002c90000000001");
      const auto found = switches.find(*guid);
      known = found != switches.end();
      node = known ? found->second : none;
      strangers += known ? 0 : 1;
    } else if (cursor.take("Channel Adapter ") || cursor.take("Router ")) {
      known = false;
    } else {
      std::uint8_t in = 0;
      std::uint8_t out = 0;
      LaneMap map{};
      if (Status status = read_lane_line(cursor, known ? fabric.node(node).port_count : 254, in, out, map);
          !status.ok())
        return status;
      if (!known) continue;
      tables.forwarding.set_lane_map(tables.forwarding.row_of(node), in, out, map);
      ++maps;
    }
  }
  if (maps == 0)
    return {Code::bad_input, "reading " + std::string(name), "no SL to VL table of a switch of this fabric in it",
            "give opensm-sl2vl.dump"};
  if (strangers > 0)
    tables.notes.push_back(std::string(name) + ": " + std::to_string(strangers) +
                           " SL to VL tables are of switches that the fabric has not");
  return {};
}

std::string write_sl2vl(const Fabric& fabric, const Forwarding& tables) {
  fmt::memory_buffer text;
  auto put = std::back_inserter(text);
  for (std::uint32_t row = 0; row < tables.rows(); ++row) {
    const Node& node = fabric.node(tables.switch_at(row));
    const Port& own = fabric.port(node.first_port);
    fmt::format_to(put, "Switch 0x{:016x}, base LID {}, \"{}\"\n{}\n{}\n", own.guid, own.lid, clean_name(node.name),
                   header, separator);
    for (std::uint32_t out = 1; out <= node.port_count; ++out) {
      if (fabric.peer(node.first_port + out) == none) continue;
      for (std::uint32_t in = 0; in <= node.port_count; ++in) {
        fmt::format_to(put, "{:<3} {:<3} :", in, out);
        for (std::uint8_t level = 0; level < 16; ++level)
          fmt::format_to(put, " {:<2}",
                         tables.lane(row, static_cast<std::uint8_t>(in), static_cast<std::uint8_t>(out), level));
        text.push_back('\n');
      }
    }
    fmt::format_to(put, "{}\n\n", separator);
  }
  return fmt::to_string(text);
}

}  // namespace holdfast::fabric
