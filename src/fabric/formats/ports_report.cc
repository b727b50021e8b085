#include "fabric/formats/ports_report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/input/lines.h"
#include "fabric/formats/cursor.h"
#include "fabric/formats/lid_notes.h"
#include "fabric/formats/node_budget.h"
#include "fabric/formats/notes.h"

namespace holdfast::fabric {
namespace {

constexpr std::uint64_t most_ports = 254;
constexpr std::uint64_t no_lid_from = 0xC000;  // multicast, and 0xffff for none

struct End {
  bool is_switch = false;
  bool is_router = false;
  Lid lid = 0;
  std::uint8_t number = 0;
  std::uint64_t guid = 0;
  std::string_view name;
  /// The same for all ports of a node: an adapter's ports have its GUID and their number added, where it is that large.
  std::pair<bool, std::uint64_t> key() const { return {is_switch, is_switch || guid < number ? guid : guid - number}; }
};

struct ReportLine {
  std::size_t number = 0;  ///< in the file
  End here;
  std::optional<End> there;
  std::optional<LinkRate> rate;
};

/// "SW    48  1 0xec0d9a0300ec8240"
Status read_end(Cursor& cursor, End& end) {
  cursor.skip_blanks();
  const std::string_view type = cursor.word();
  if (type != "SW" && type != "CA" && type != "RT")
    return cursor.wrong("expected SW, CA or RT", "give the output of ibnetdiscover -p");
  end.is_switch = type == "SW";
  end.is_router = type == "RT";
  cursor.skip_blanks();
  const std::optional<std::uint64_t> lid = cursor.decimal();
  cursor.skip_blanks();
  const std::optional<std::uint64_t> number = cursor.decimal();
  if (!lid || *lid > 0xFFFF || !number || *number == 0 || *number > most_ports)
    return cursor.wrong("expected a LID and a port number", "as in SW 48 1 0xec0d9a0300ec8240");
  cursor.skip_blanks();
  const std::optional<std::uint64_t> guid = cursor.hexadecimal();
  if (!guid) return cursor.wrong("expected a port GUID", "as in 0xec0d9a0300ec8240");
  end.lid = *lid < no_lid_from ? static_cast<Lid>(*lid) : 0;
  end.number = static_cast<std::uint8_t>(*number);
  end.guid = *guid;
  return {};
}

/// "4x EDR - CA 67 1 0x... ( 'leaf' - 'node' )", or "4x SDR 'leaf'" of a port without a cable.
Status read_line(Cursor& cursor, ReportLine& line) {
  if (Status status = read_end(cursor, line.here); !status.ok()) return status;
  cursor.skip_blanks();
  const std::string width(cursor.word());
  cursor.skip_blanks();
  line.rate = find_rate(width + std::string(cursor.word()));
  cursor.skip_blanks();
  if (!cursor.take("- ")) {
    if (cursor.take('\'')) line.here.name = cursor.rest().substr(0, cursor.rest().rfind('\''));
    return {};
  }
  line.there.emplace();
  if (Status status = read_end(cursor, *line.there); !status.ok()) return status;
  cursor.skip_blanks();
  if (!cursor.take("( '")) return cursor.wrong("expected the names of both nodes", "as in ( 'leaf-1' - 'node-7' )");
  const std::string_view names = cursor.rest().substr(0, cursor.rest().rfind("' )"));
  const std::size_t middle = names.find("' - '");
  line.here.name = names.substr(0, middle);
  if (middle != std::string_view::npos) line.there->name = names.substr(middle + 5);
  return {};
}

class PortsReport {
 public:
  PortsReport(std::string_view file, Notes& notes) : file_(file), notes_(notes) {}

  void learn(const End& end, std::size_t line) {
    Seen& seen = nodes_[end.key()];
    seen.ports = std::max(seen.ports, end.number);
    if (seen.name.empty()) seen.name = end.name;
    if (end.is_router) notes_.add("router", line, "a router is taken as a channel adapter");
  }

  Status make_nodes() {
    std::map<std::string_view, int> uses;
    for (const auto& [key, seen] : nodes_) ++uses[seen.name];
    for (auto& [key, seen] : nodes_) {
      std::string name(seen.name);
      if (name.empty() || uses[seen.name] > 1) name += (name.empty() ? "" : " ") + guid_text(key.second);
      if (Status status = budget_.afford(file_, seen.ports); !status.ok()) return status;
      seen.node = imported_.fabric.add_node(key.first ? NodeKind::switch_ : NodeKind::adapter, seen.ports,
                                            std::move(name), key.second);
    }
    return {};
  }

  void connect(const ReportLine& line) {
    Fabric& fabric = imported_.fabric;
    const PortId here = settle(line.here);
    if (!line.there) return;
    const PortId there = settle(*line.there);
    if (here == there || fabric.port(here).link != none || fabric.port(there).link != none) {
      if (here == there || fabric.port(here).link != fabric.port(there).link)
        notes_.add("ends", line.number, "the two ends of a cable disagree; the first line holds");
      return;  // usually the other end of a cable that is there
    }
    fabric.add_link(here, there, line.rate.value_or(LinkRate{}));
  }

  Imported finish() {
    if (imported_.fabric.top_lid() == 0) imported_.fabric.assign_lids();
    note_odd_lids(imported_.fabric, notes_);
    imported_.notes = notes_.texts();
    return std::move(imported_);
  }

 private:
  struct Seen {
    std::uint8_t ports = 0;
    std::string_view name;
    NodeId node = none;
  };

  static std::string guid_text(std::uint64_t guid) {
    std::string text = "0x";
    for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[guid >> shift & 15];
    return text;
  }

  PortId settle(const End& end) {
    Fabric& fabric = imported_.fabric;
    const NodeId node = nodes_[end.key()].node;
    const PortId id = fabric.port_of(node, end.number);
    for (std::uint32_t number = end.is_switch ? 0 : end.number;
         number <= (end.is_switch ? fabric.node(node).port_count : std::uint32_t{end.number}); ++number) {
      Port& port = fabric.mutable_port(fabric.node(node).first_port + number);
      port.guid = end.guid;
      if (end.lid != 0) port.lid = end.lid;
    }
    return id;
  }

  std::string_view file_;
  NodeBudget budget_;
  Imported imported_;
  std::map<std::pair<bool, std::uint64_t>, Seen> nodes_;
  Notes& notes_;
};

}  // namespace

bool is_ports_report(std::string_view text) {
  Lines lines(text);
  for (int looked_at = 0; looked_at < 20 && lines.next(); ++looked_at) {
    Cursor cursor("", 0, lines.line());
    End end;
    if ((lines.line().starts_with("SW ") || lines.line().starts_with("CA ") || lines.line().starts_with("RT ")) &&
        read_end(cursor, end).ok())
      return true;
  }
  return false;
}

Result<Imported> read_ports_report(std::string_view text, std::string_view name) {
  std::vector<ReportLine> report;
  Notes notes(name);
  PortsReport reader(name, notes);
  for (Lines lines(text); lines.next();) {
    Cursor cursor(name, lines.number(), lines.line());
    cursor.skip_blanks();
    if (cursor.at_end() || cursor.peek() == '#') continue;
    if (is_from_another_program(cursor.rest())) {
      notes.add("another program", lines.number(),
                "a line of another program, left out: " + std::string(lines.line().substr(0, 120)));
      continue;
    }
    ReportLine line;
    line.number = lines.number();
    const Status status = read_line(cursor, line);
    if (!status.ok() && !(lines.at_end() && lacks_last_line_end(text))) return status;
    if (!status.ok()) {
      notes.add("cut short", lines.number(),
                "the file ends in the middle of this line, which is left out (" + status.wrong() +
                    "): was the file cut short?");
      continue;
    }
    reader.learn(line.here, line.number);
    if (line.there) reader.learn(*line.there, line.number);
    report.push_back(line);
  }
  if (Status status = reader.make_nodes(); !status.ok()) return status;
  for (const ReportLine& line : report) reader.connect(line);
  return reader.finish();
}

}  // namespace holdfast::fabric
