#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <iterator>
#include <unordered_map>
#include <vector>

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

/// The lines of one switch. Whole: one for each of its ports in and each of its ports out, of which those with cables
/// are some.
class LaneTable {
 public:
  LaneTable() = default;
  LaneTable(const Fabric& fabric, NodeId node) {
    for (std::uint32_t port = 1; port <= fabric.node(node).port_count; ++port)
      cabled_[port] = fabric.peer(fabric.node(node).first_port + port) != none;
  }
  void add(std::uint8_t in, std::uint8_t out) {
    in_[in] = out_[out] = true;
    ++lines_;
  }
  bool is_whole() const { return in_.count() * out_.count() == lines_ && (cabled_ & ~out_).none(); }

 private:
  std::bitset<256> cabled_;
  std::bitset<256> in_;
  std::bitset<256> out_;
  std::size_t lines_ = 0;
};

}  // namespace

Status read_sl2vl(std::string_view text, std::string_view name, const Fabric& fabric, ImportedTables& tables) {
  std::unordered_map<std::uint64_t, NodeId> switches;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (!fabric.is_switch(id)) continue;
    switches.try_emplace(fabric.port(fabric.port_of(id, 0)).guid, id);
    switches.try_emplace(fabric.node(id).guid, id);
  }
  const bool cut_short = lacks_last_line_end(text);
  const auto note = [&](const std::string& what) { tables.notes.push_back(std::string(name) + what); };
  std::vector<bool> seen(tables.forwarding.rows());
  LaneTable table;        // of the last switch
  bool all_whole = true;  // those before it
  std::size_t last_line = 0;
  NodeId node = none;
  bool known = false;  // whether lines of a switch of the fabric follow
  std::size_t maps = 0;
  std::size_t strangers = 0;
  Lines lines(text);
  const auto read_line = [&](Cursor& cursor) -> Status {
    if (cursor.take("Switch ")) {
      const std::optional<std::uint64_t> guid = cursor.hexadecimal();
      if (!guid) return cursor.wrong("expected the switch's port GUID", "as in Switch 0x0002c90000000001");
      const auto found = switches.find(*guid);
      known = found != switches.end();
      all_whole = all_whole && table.is_whole();
      node = known ? found->second : none;
      table = known ? LaneTable(fabric, node) : LaneTable();
      strangers += known ? 0 : 1;
      return {};
    }
    if (cursor.take("Channel Adapter ") || cursor.take("Router ")) {
      known = false;
      return {};
    }
    std::uint8_t in = 0;
    std::uint8_t out = 0;
    LaneMap map{};
    Status status = read_lane_line(cursor, known ? fabric.node(node).port_count : 254, in, out, map);
    if (!status.ok() || !known) return status;
    const std::uint32_t row = tables.forwarding.row_of(node);
    table.add(in, out);
    last_line = lines.number();
    seen[row] = true;
    tables.forwarding.set_lane_map(row, in, out, map);
    ++maps;
    return {};
  };
  while (lines.next()) {
    Cursor cursor(name, lines.number(), lines.line());
    cursor.skip_blanks();
    if (cursor.at_end() || cursor.peek() == '#') continue;
    const Status status = read_line(cursor);
    if (cut_short && lines.at_end()) {
      note(" line " + std::to_string(lines.number()) + ": the file ends in the middle of this line, which is " +
           (status.ok() ? "taken as it is" : "left out (" + status.wrong() + ")") + ": was the file cut short?");
    } else if (!status.ok()) {
      return status;
    }
  }
  if (maps == 0)
    return {Code::bad_input, "reading " + std::string(name), "no SL to VL table of a switch of this fabric in it",
            "give opensm-sl2vl.dump"};
  if (all_whole && !table.is_whole())
    note(" line " + std::to_string(last_line) +
         ": the last SL to VL table ends here and lacks ports: was the file cut short?");
  const auto missing = std::ranges::find(seen, false);
  if (missing != seen.end())
    note(": " + std::to_string(std::ranges::count(seen, false)) +
         " switches of the fabric have no SL to VL table, the first: " +
         fabric.node(tables.forwarding.switch_at(static_cast<std::uint32_t>(missing - seen.begin()))).name +
         "; lanes are taken to be service levels there");
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
