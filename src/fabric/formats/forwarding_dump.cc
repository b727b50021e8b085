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
#include "fabric/formats/notes.h"

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

/// By LID: whether several ports have it, so that nobody can say whose it is.
std::vector<bool> lids_of_several(const Fabric& fabric) {
  std::vector<bool> taken(std::size_t{fabric.top_lid()} + 1, false);
  std::vector<bool> shared = taken;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    const Node& node = fabric.node(id);
    const bool is_switch = fabric.is_switch(id);
    for (std::uint32_t number = is_switch ? 0 : 1; number <= (is_switch ? 0U : node.port_count); ++number) {
      const Port& port = fabric.port(node.first_port + number);
      for (Lid lid = port.lid; port.lid != 0 && lid < port.lid + (Lid{1} << port.lmc); ++lid) {
        shared[lid] = taken[lid];
        taken[lid] = true;
      }
    }
  }
  return shared;
}

bool is_remark(std::string_view line) {
  constexpr std::array<std::string_view, 2> ends = {"Info", "Optimal"};
  while (line.ends_with(' ')) line.remove_suffix(1);
  if (line.empty() || line.front() == '#' || line.starts_with("  Lid")) return true;
  return std::ranges::any_of(ends, [&](std::string_view end) { return line.ends_with(end); });
}

class ForwardingReader {
 public:
  ForwardingReader(std::string_view text, std::string_view file, const Fabric& fabric)
      : lines_(text),
        file_(file),
        cut_short_(lacks_last_line_end(text)),
        notes_(file),
        fabric_(fabric),
        owners_(ports_by_lid(fabric)),
        shared_(lids_of_several(fabric)) {
    read_.forwarding = Forwarding(fabric);
    for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
      if (fabric.is_switch(id)) switches_.try_emplace(fabric.node(id).guid, id);
    }
    seen_.resize(read_.forwarding.rows());
  }

  Result<ImportedTables> read() {
    while (lines_.next()) {
      std::string_view line = lines_.line();
      while (line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
      Status status;
      if (line.starts_with("0x"))
        status = read_entry(line);
      else if (const std::size_t guid = guid_of_head(line); guid != std::string_view::npos)
        status = read_head(line, guid);
      else if (line.ends_with("lids dumped"))
        end_table();
      else if (is_from_another_program(line))
        notes_.add("another program", lines_.number(),
                   "a line of another program, left out: " + std::string(line.substr(0, 120)));
      else if (!is_remark(line))
        status = cursor().wrong("this line belongs to no dump of forwarding tables",
                                "give the output of dump_lfts or OpenSM's");
      if (!status.ok() && !(cut_short_ && lines_.at_end())) return status;
      if (cut_short_ && lines_.at_end()) cut_inside_line(status);
    }
    leave_table();
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
    leave_table();
    ++tables_;
    row_ = none;
    table_ = {line.starts_with(lfts_head) ? Table::open : Table::endless, lines_.number(), 0, *guid};
    if (found == switches_.end()) {
      if (++strangers_ == 1) first_stranger_ = std::string(line.substr(0, 120));
      return {};
    }
    row_ = read_.forwarding.row_of(found->second);
    if (seen_[row_])
      notes_.add("twice", lines_.number(),
                 "a second table of " + fabric_.node(found->second).name + ", which is read over the first");
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
    table_.last_lid = std::max(table_.last_lid, lid);
    table_.last_line = lines_.number();
    ++table_.entries;
    if (row_ == none) return {};
    if (lid >= owners_.size() || owners_[lid] == none) {
      ++unknown_lids_;
      if (lid >= owners_.size()) return {};
    } else if (tables_ == 1 && !shared_[lid]) {
      if (Status status = check_owner(std::string_view(at, end), lid); !status.ok()) return status;
    }
    if (stamp_[lid] == tables_ && read_.forwarding.out_port(row_, lid) != port)
      notes_.add("two ports", lines_.number(),
                 "LID " + std::to_string(lid) + " has port " + std::to_string(read_.forwarding.out_port(row_, lid)) +
                     " and port " + std::to_string(port) + " in the table of " + table_name() + "; the last one holds");
    stamp_[lid] = tables_;
    read_.forwarding.set_out_port(row_, lid, static_cast<std::uint8_t>(port));
    return {};
  }

  std::string table_name() const {
    if (row_ != none) return fabric_.node(read_.forwarding.switch_at(row_)).name;
    return "the switch with GUID " + fmt::format("0x{:016x}", table_.guid);
  }

  /// "45 valid lids dumped", which ibroute and OpenSM write behind a table. ibroute counts the entries.
  void end_table() {
    if (table_.state != Table::open) return;
    table_.state = Table::whole;
    const std::string_view line = lines_.line();
    std::uint64_t told = 0;
    std::from_chars(line.data(), line.data() + line.size(), told);
    if (line.find("valid") != std::string_view::npos && told != table_.entries)
      notes_.add("count", lines_.number(),
                 "the table of " + table_name() + " has " + std::to_string(table_.entries) +
                     " entries where its last line says " + std::to_string(told));
  }

  /// Where a table has no end of its own: at the next one, or at the end of the file.
  void leave_table() {
    if (tables_ == 0) return;
    if (table_.state == Table::endless) {
      endless_.push_back({table_.last_lid, table_.last_line, table_name()});
    } else if (table_.state == Table::open) {
      note_cut_short(table_name(), table_.last_line, table_.last_lid);
    }
  }

  void note_cut_short(const std::string& name, std::size_t line, Lid last) {
    notes_.add("cut short", line,
               "the table of " + name + " ends here " +
                   (last == 0 ? "without an entry" : "with LID " + std::to_string(last)) + ": it was cut short");
  }

  void cut_inside_line(const Status& status) {
    notes_.add("cut line", lines_.number(),
               std::string("the file ends in the middle of this line, in the table of ") + table_name() +
                   (status.ok() ? "" : "; it is left out (" + status.wrong() + ")"));
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
    // opensm.fdbs has no line behind a table, but all of its tables go up to the same LID
    Lid top = 0;
    for (const Endless& one : endless_) top = std::max(top, one.last_lid);
    for (const Endless& one : endless_)
      if (one.last_lid < top) note_cut_short(one.name, one.last_line, one.last_lid);
    read_.notes = notes_.texts();
    if (missing > 0)
      read_.notes.push_back(name + ": " + std::to_string(missing) + " switches of the fabric have no table");
    if (strangers_ > 0)
      read_.notes.push_back(name + ": " + std::to_string(strangers_) +
                            " tables are of switches that the fabric has not, the first: " + first_stranger_);
    if (unknown_lids_ > 0)
      read_.notes.push_back(name + ": " + std::to_string(unknown_lids_) +
                            " entries are for LIDs that the fabric has not");
  }

  /// The table that is being read.
  struct Table {
    enum State : std::uint8_t { open, endless, whole } state = whole;
    std::size_t last_line = 0;  ///< of an entry, or of its head
    Lid last_lid = 0;
    std::uint64_t guid = 0;
    std::uint64_t entries = 0;
  };
  /// One of a dialect that has no line behind a table.
  struct Endless {
    Lid last_lid;
    std::size_t last_line;
    std::string name;
  };

  Lines lines_;
  std::string_view file_;
  bool cut_short_;  // the last line has no end
  Notes notes_;
  const Fabric& fabric_;
  std::vector<PortId> owners_;
  std::vector<bool> shared_;
  std::vector<std::size_t> stamp_ = std::vector<std::size_t>(owners_.size(), 0);  // by LID: the table that had it last
  Table table_;
  std::vector<Endless> endless_;
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
  if (Status status = Forwarding::check_size(fabric, "reading " + std::string(name), "take a smaller network");
      !status.ok())
    return status;
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
