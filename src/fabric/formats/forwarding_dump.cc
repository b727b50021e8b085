#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <unordered_map>

#include "fabric/formats/cursor.h"
#include "fabric/formats/forwarding_tables.h"
#include "fabric/formats/node_name.h"

namespace holdfast::fabric {
namespace {

constexpr std::string_view lfts_head = "Unicast lids [";
constexpr std::string_view fdbs_head = "Switch 0x";

/// The port at each LID; `none` for those of nobody.
std::vector<PortId> ports_by_lid(const Fabric& fabric) {
  std::vector<PortId> ports(std::size_t{fabric.top_lid()} + 1, none);
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    const Node& node = fabric.node(id);
    const bool is_switch = fabric.is_switch(id);
    for (std::uint32_t number = is_switch ? 0 : 1; number <= (is_switch ? 0U : node.port_count); ++number) {
      const Port& port = fabric.port(node.first_port + number);
      for (Lid lid = port.lid; port.lid != 0 && lid < port.lid + (Lid{1} << port.lmc); ++lid)
        ports[lid] = node.first_port + number;
    }
  }
  return ports;
}

bool is_remark(std::string_view line) {
  constexpr std::array<std::string_view, 4> ends = {"lids dumped", "valid lids dumped", "Info", "Optimal"};
  while (line.ends_with(' ')) line.remove_suffix(1);
  if (line.empty() || line.front() == '#' || line.starts_with("ibwarn:") || line.starts_with("  Lid")) return true;
  return std::ranges::any_of(ends, [&](std::string_view end) { return line.ends_with(end); });
}

class ForwardingReader {
 public:
  ForwardingReader(std::string_view text, std::string_view file, const Fabric& fabric)
      : lines_(text), file_(file), fabric_(fabric), owners_(ports_by_lid(fabric)) {
    read_.forwarding = Forwarding(fabric);
    for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
      if (fabric.is_switch(id)) switches_.try_emplace(fabric.node(id).guid, id);
    }
    seen_.resize(read_.forwarding.rows());
  }

  Result<ImportedTables> read() {
    while (lines_.next()) {
      const std::string_view line = lines_.line();
      Status status;
      if (line.starts_with("0x"))
        status = read_entry(line);
      else if (const std::size_t guid = guid_of_head(line); guid != std::string_view::npos)
        status = read_head(line, guid);
      else if (!is_remark(line))
        status = cursor().wrong("this line belongs to no dump of forwarding tables",
                                "give the output of dump_lfts or OpenSM's");
      if (!status.ok()) return status;
    }
    if (tables_ == 0)
      return Status(Code::bad_input, "reading " + std::string(file_), "no forwarding table in it",
                    "give the output of dump_lfts, or opensm-lfts.dump");
    add_notes();
    return std::move(read_);
  }

 private:
  Cursor cursor() const { return {file_, lines_.number(), lines_.line()}; }

  /// Where the digits of the switch's GUID begin, on a line that starts a table.
  static std::size_t guid_of_head(std::string_view line) {
    if (line.starts_with(lfts_head)) {
      const std::size_t at = line.find(" guid 0x");
      return at == std::string_view::npos ? at : at + 6;
    }
    const std::size_t at = line.find(fdbs_head);
    return at == std::string_view::npos ? at : at + 7;
  }

  Status read_head(std::string_view line, std::size_t guid_at) {
    Cursor place = cursor();
    place.skip(guid_at);
    const std::optional<std::uint64_t> guid = place.hexadecimal();
    if (!guid) return place.wrong("expected the switch's GUID", "as in guid 0x0002c90000000001");
    const auto found = switches_.find(*guid);
    ++tables_;
    row_ = none;
    if (found == switches_.end()) {
      if (++strangers_ == 1) first_stranger_ = std::string(line.substr(0, 120));
      return {};
    }
    row_ = read_.forwarding.row_of(found->second);
    ports_ = fabric_.node(found->second).port_count;
    seen_[row_] = true;
    return {};
  }

  /// "0x0001 006 # ...", "0x0001 006 : (...)", "0x0001 : 006  : 02   : yes", "0x0001 : UNREACHABLE"
  Status read_entry(std::string_view line) {
    const char* at = line.data() + 2;
    const char* const end = line.data() + line.size();
    auto wrong = [&](const char* what) {
      Cursor place = cursor();
      place.skip(static_cast<std::size_t>(at - line.data()));
      return place.wrong(what, "as in 0x0001 006");
    };
    std::uint32_t lid = 0;
    const auto [behind, error] = std::from_chars(at, end, lid, 16);
    if (error != std::errc() || lid > 0xFFFF) return wrong("expected a LID of at most 0xffff");
    at = behind;
    while (at < end && (*at == ' ' || *at == '\t' || *at == ':')) ++at;
    std::uint32_t port = Forwarding::no_port;
    if (!std::string_view(at, end).starts_with("UNREACHABLE")) {
      const auto [last, failed] = std::from_chars(at, end, port);
      if (failed != std::errc() || port > 255) return wrong("expected a port");
      if (tables_ == 0) return wrong("an entry before the first switch");
      if (row_ != none && port > ports_ && port != Forwarding::no_port)
        return wrong(("the switch has " + std::to_string(ports_) + " ports").c_str());
      at = last;
    }
    if (row_ == none) return {};
    if (lid >= owners_.size() || owners_[lid] == none) {
      ++unknown_lids_;
      if (lid >= owners_.size()) return {};
    } else if (tables_ == 1) {
      if (Status status = check_owner(std::string_view(at, end), lid); !status.ok()) return status;
    }
    read_.forwarding.set_out_port(row_, lid, static_cast<std::uint8_t>(port));
    return {};
  }

  /// The remark behind an entry of the first table names the port GUID at the LID: other LIDs would make every table
  /// wrong.
  Status check_owner(std::string_view remark, Lid lid) const {
    const std::size_t at = remark.find("portguid 0x");
    if (at == std::string_view::npos) return {};
    std::uint64_t guid = 0;
    std::from_chars(remark.data() + at + 11, remark.data() + remark.size(), guid, 16);
    const Port& owner = fabric_.port(owners_[lid]);
    if (guid == owner.guid || guid == fabric_.node(owner.node).guid) return {};
    return cursor().wrong(
        "LID " + std::to_string(lid) + " is another node's in the fabric, " + fabric_.node(owner.node).name,
        "take the tables and the fabric at the same time");
  }

  void add_notes() {
    const auto missing = static_cast<std::size_t>(std::ranges::count(seen_, false));
    const std::string name(file_);
    if (missing > 0)
      read_.notes.push_back(name + ": " + std::to_string(missing) + " switches of the fabric have no table");
    if (strangers_ > 0)
      read_.notes.push_back(name + ": " + std::to_string(strangers_) +
                            " tables are of switches that the fabric has not, the first: " + first_stranger_);
    if (unknown_lids_ > 0)
      read_.notes.push_back(name + ": " + std::to_string(unknown_lids_) +
                            " entries are for LIDs that the fabric has not");
  }

  Lines lines_;
  std::string_view file_;
  const Fabric& fabric_;
  std::vector<PortId> owners_;
  std::unordered_map<std::uint64_t, NodeId> switches_;
  ImportedTables read_;
  std::vector<bool> seen_;  // by row
  std::uint32_t row_ = none;
  std::uint32_t ports_ = 0;
  std::size_t tables_ = 0;
  std::size_t strangers_ = 0;
  std::string first_stranger_;
  std::size_t unknown_lids_ = 0;
};

/// How many links a packet takes from a switch to a LID; nothing when it does not arrive.
std::optional<std::uint32_t> hops_to(const Fabric& fabric, const Forwarding& tables, std::uint32_t row, Lid lid) {
  for (std::uint32_t hops = 0; hops <= tables.rows(); ++hops) {
    const std::uint8_t out = tables.out_port(row, lid);
    if (out == 0) return hops;
    const NodeId here = tables.switch_at(row);
    if (out == Forwarding::no_port || out > fabric.node(here).port_count) return std::nullopt;
    const PortId next = fabric.peer(fabric.port_of(here, out));
    if (next == none) return std::nullopt;
    const NodeId node = fabric.port(next).node;
    if (!fabric.is_switch(node)) return hops + 1;
    row = tables.row_of(node);
  }
  return std::nullopt;
}

}  // namespace

bool is_forwarding_dump(std::string_view text) {
  const std::string_view head = text.substr(0, 4096);
  return head.find(lfts_head) != std::string_view::npos || head.find("routes: Switch 0x") != std::string_view::npos;
}

Result<ImportedTables> read_forwarding(std::string_view text, std::string_view name, const Fabric& fabric) {
  return ForwardingReader(text, name, fabric).read();
}

std::string write_lfts(const Fabric& fabric, const Forwarding& tables) {
  const std::vector<PortId> owners = ports_by_lid(fabric);
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  std::vector<std::string> remarks(tables.lids());
  for (Lid lid = 1; lid < tables.lids(); ++lid) {
    if (owners[lid] == none) continue;
    const Port& port = fabric.port(owners[lid]);
    remarks[lid] =
        fmt::format("{} portguid 0x{:016x}: '{}'", fabric.is_switch(port.node) ? "Switch" : "Channel Adapter",
                    port.guid, clean_name(fabric.node(port.node).name));
  }
  for (std::uint32_t row = 0; row < tables.rows(); ++row) {
    const Node& node = fabric.node(tables.switch_at(row));
    fmt::format_to(out, "Unicast lids [0-{}] of switch Lid {} guid 0x{:016x} ('{}'):\n", tables.lids() - 1,
                   fabric.port(node.first_port).lid, node.guid, clean_name(node.name));
    for (Lid lid = 1; lid < tables.lids(); ++lid) {
      const std::uint8_t port = tables.out_port(row, lid);
      if (port > node.port_count) continue;
      fmt::format_to(out, "0x{:04x} {:03} # {}\n", lid, port,
                     remarks[lid].empty() ? "unknown node and type" : remarks[lid]);
    }
    fmt::format_to(out, "{} lids dumped\n", tables.lids() - 1);
  }
  return fmt::to_string(text);
}

std::string write_fdbs(const Fabric& fabric, const Forwarding& tables) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  for (std::uint32_t row = 0; row < tables.rows(); ++row) {
    const Node& node = fabric.node(tables.switch_at(row));
    fmt::format_to(out, "dump_ucast_routes: Switch 0x{:016x}\nLID    : Port : Hops : Optimal\n", node.guid);
    for (Lid lid = 1; lid < tables.lids(); ++lid) {
      const std::uint8_t port = tables.out_port(row, lid);
      if (port > node.port_count) {
        fmt::format_to(out, "0x{:04X} : UNREACHABLE\n", lid);
        continue;
      }
      const std::optional<std::uint32_t> hops = hops_to(fabric, tables, row, lid);
      if (hops)
        fmt::format_to(out, "0x{:04X} : {:03}  : {:02}   : yes\n", lid, port, *hops);
      else
        fmt::format_to(out, "0x{:04X} : {:03}  : HOPS UNKNOWN\n", lid, port);
    }
  }
  return fmt::to_string(text);
}

}  // namespace holdfast::fabric
