#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "fabric/formats/cursor.h"
#include "fabric/formats/forwarding_tables.h"

namespace holdfast::fabric {
namespace {

constexpr std::string_view record_head = "PathRecord dump:";

/// An adapter port with a LID.
struct EndPort {
  Lid lid;
  std::uint8_t lmc;
  std::uint32_t row;  ///< of the switch that it hangs on; none without one
};

std::vector<EndPort> end_ports(const Fabric& fabric, const Forwarding& tables) {
  std::vector<EndPort> ends;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    if (fabric.is_switch(id)) continue;
    for (std::uint32_t number = 1; number <= fabric.node(id).port_count; ++number) {
      const PortId port = fabric.node(id).first_port + number;
      const PortId peer = fabric.peer(port);
      const NodeId at = peer == none ? none : fabric.port(peer).node;
      const bool below_switch = at != none && fabric.is_switch(at);
      if (fabric.port(port).lid != 0)
        ends.push_back({fabric.port(port).lid, fabric.port(port).lmc, below_switch ? tables.row_of(at) : none});
    }
  }
  return ends;
}

struct Record {
  std::optional<std::uint64_t> source, destination, level;
};

/// "		dlid....................1"
std::optional<std::uint64_t> value_of(Cursor& cursor) {
  while (cursor.peek() == '.') cursor.skip(1);
  return cursor.number_of_any_base();
}

class PathRecordReader {
 public:
  PathRecordReader(std::string_view name, const Fabric& fabric, ImportedTables& tables)
      : name_(name), tables_(tables), row_of_lid_(std::size_t{fabric.top_lid()} + 1, none) {
    // Levels per source LID: what a subnet manager answers may differ between hosts of one switch.
    tables.forwarding.distinguish_sources();
    ends_ = end_ports(fabric, tables.forwarding);
    for (const EndPort& from : ends_) {
      for (Lid lid = from.lid; lid < from.lid + (Lid{1} << from.lmc); ++lid) row_of_lid_[lid] = from.row;
      for (const EndPort& to : ends_) {
        if (from.row != none) set(from.lid, to.lid, Forwarding::no_path);
      }
    }
  }

  Status read(std::string_view text) {
    Lines lines(text);
    const bool cut_short = lacks_last_line_end(text);
    bool inside = false;
    while (lines.next()) {
      Cursor cursor(name_, lines.number(), lines.line());
      cursor.skip_blanks();
      if (cursor.take(record_head)) {
        finish_record();
        inside = true;
      } else if (inside) {
        const Status status = read_field(cursor);
        if (!status.ok() && (!cut_short || !lines.at_end())) return status;
        if (!status.ok())
          tables_.notes.push_back(std::string(name_) + " line " + std::to_string(lines.number()) +
                                  ": the file ends in the middle of this line, and its record is left out (" +
                                  status.wrong() + "): was the file cut short?");
      }
    }
    finish_record();
    if (records_ == 0)
      return {Code::bad_input, "reading " + std::string(name_), "no path record of this fabric's adapters in it",
              "give the output of saquery -p"};
    if (const std::size_t missing = missing_pairs(); missing > 0)
      note(missing,
           ("pairs of adapters have no path record; the last one leads from " + last_ + ": was the file cut short?")
               .c_str());
    if (damaged_ > 0) note(damaged_, "path records have LIDs that no adapter of the fabric has");
    return {};
  }

 private:
  Status read_field(Cursor& cursor) {
    std::optional<std::uint64_t>* member = nullptr;
    if (cursor.take("slid."))
      member = &record_.source;
    else if (cursor.take("dlid."))
      member = &record_.destination;
    else if (cursor.take("sl."))
      member = &record_.level;
    if (member == nullptr) return {};
    *member = value_of(cursor);
    if (!*member || **member > 0xFFFF)
      return cursor.wrong("expected a number of at most 65535", "as saquery -p prints it");
    if (member == &record_.level) record_.level = **member & 15U;  // the field's upper bits are the QoS class
    return {};
  }

  void finish_record() {
    const Record record = std::exchange(record_, {});
    if (!record.source || !record.destination || !record.level) return;
    const std::uint64_t source = *record.source;
    const std::uint64_t destination = *record.destination;
    if (source == 0 || destination == 0 || source >= row_of_lid_.size() || destination >= row_of_lid_.size()) {
      ++damaged_;
      return;
    }
    if (row_of_lid_[source] == none) return;  // a switch's own path
    set(static_cast<Lid>(source), static_cast<Lid>(destination), static_cast<std::uint8_t>(*record.level));
    last_ = "LID " + std::to_string(source) + " to LID " + std::to_string(destination);
    ++records_;
  }

  std::size_t missing_pairs() const {
    std::size_t missing = 0;
    for (const EndPort& from : ends_) {
      for (const EndPort& to : ends_) {
        if (from.row != none && to.row != none && from.lid != to.lid &&
            tables_.forwarding.service_level(from.row, from.lid, to.lid) == Forwarding::no_path)
          ++missing;
      }
    }
    return missing;
  }

  void set(Lid source, Lid destination, std::uint8_t level) {
    tables_.forwarding.set_service_level(row_of_lid_[source], source, destination, level);
  }
  void note(std::size_t count, const char* text) {
    tables_.notes.push_back(std::string(name_) + ": " + std::to_string(count) + " " + text);
  }

  std::string_view name_;
  ImportedTables& tables_;
  std::vector<EndPort> ends_;
  std::vector<std::uint32_t> row_of_lid_;
  Record record_;
  std::string last_;  // the record that was read last
  std::size_t records_ = 0;
  std::size_t damaged_ = 0;
};

}  // namespace

Status read_path_records(std::string_view text, std::string_view name, const Fabric& fabric, ImportedTables& tables) {
  return PathRecordReader(name, fabric, tables).read(text);
}

std::string write_path_records(const Fabric& fabric, const Forwarding& tables) {
  fmt::memory_buffer text;
  const std::vector<EndPort> ends = end_ports(fabric, tables);
  for (const EndPort& from : ends) {
    if (from.row == none) continue;
    for (const EndPort& to : ends) {
      const std::uint8_t level = tables.service_level(from.row, from.lid, to.lid);
      if (level == Forwarding::no_path) continue;
      fmt::format_to(
          std::back_inserter(text),
          "{}\n\t\tdlid....................{}\n\t\tslid....................{}\n\t\tsl......................0x{:X}\n",
          record_head, to.lid, from.lid, level);
    }
  }
  return fmt::to_string(text);
}

void settle_lanes(const Fabric& fabric, Forwarding& tables) {
  std::array<bool, 16> used{};
  const std::vector<EndPort> ends = end_ports(fabric, tables);
  for (const EndPort& from : ends) {
    for (const EndPort& to : ends) {
      if (from.row == none) continue;
      const std::uint8_t level = tables.service_level(from.row, from.lid, to.lid);
      if (level < 16) used[level] = true;
    }
  }
  std::uint8_t highest = 0;
  for (std::uint32_t row = 0; row < tables.rows(); ++row) {
    const std::uint32_t ports = tables.has_lane_maps() ? fabric.node(tables.switch_at(row)).port_count : 1;
    for (std::uint32_t in = 0; in <= ports; ++in) {
      for (std::uint32_t out = 1; out <= ports; ++out) {
        for (std::uint8_t level = 0; level < 16; ++level) {
          const std::uint8_t lane =
              tables.lane(row, static_cast<std::uint8_t>(in), static_cast<std::uint8_t>(out), level);
          if (used[level] && lane < 15) highest = std::max(highest, lane);
        }
      }
    }
  }
  tables.lanes_used = static_cast<std::uint8_t>(highest + 1);
}

}  // namespace holdfast::fabric
