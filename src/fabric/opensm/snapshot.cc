#include "fabric/opensm/snapshot.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::fabric::opensm {
namespace {

Status damaged(const std::string& wrong) {
  return {Code::internal, "reading OpenSM's tables", wrong, "please report this"};
}

/// Takes numbers off the front; once it has run out, everything is 0 and `short_` stays set.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::string_view bytes(std::size_t count) {
    if (count > rest_.size()) {
      short_ = true;
      return {};
    }
    std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <class Number>
  Number number() {
    Number value = 0;
    std::string_view taken = bytes(sizeof value);
    if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  bool ran_out() const { return short_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool short_ = false;
};

/// An adapter's LID and the row of the switch that it hangs on (`none` on another adapter).
struct Endpoint {
  Lid lid = 0;
  std::uint32_t row = none;
};

class SnapshotReader {
 public:
  SnapshotReader(std::string_view bytes, const Fabric& fabric) : in_(bytes), fabric_(fabric) {
    for (NodeId node = 0; node < fabric.nodes().size(); ++node) nodes_.emplace(fabric.node(node).guid, node);
    snapshot_.forwarding = Forwarding(fabric);
  }

  Result<Snapshot> read() {
    if (in_.bytes(8) != "HFTAP001") return damaged("not such a file");
    snapshot_.routing_cpu_ns = in_.number<std::int64_t>();
    snapshot_.routing_wall_ns = in_.number<std::int64_t>();
    snapshot_.memory_bytes = in_.number<std::uint64_t>();
    const auto ports = in_.number<std::uint32_t>();
    const auto switches = in_.number<std::uint32_t>();
    const bool has_levels = in_.number<std::uint8_t>() != 0;
    const bool has_lane_maps = in_.number<std::uint8_t>() != 0;
    in_.bytes(6);
    Status status = read_ports(ports);
    if (status.ok()) status = read_switches(switches);
    if (status.ok() && has_levels) status = read_levels();
    if (status.ok() && has_lane_maps) status = read_lane_maps();
    if (!status.ok()) return status;
    if (in_.bytes(8) != "HFTAPEND" || !in_.at_end()) return damaged("it does not end where it should");
    if (has_levels || has_lane_maps) count_lanes();
    return std::move(snapshot_);
  }

 private:
  Status read_ports(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count && !in_.ran_out(); ++i) {
      const auto guid = in_.number<std::uint64_t>();
      const auto lid = in_.number<std::uint16_t>();
      const auto number = in_.number<std::uint8_t>();
      const auto lmc = in_.number<std::uint8_t>();
      auto found = nodes_.find(guid);
      if (found == nodes_.end() || number > fabric_.node(found->second).port_count)
        return damaged("a port of a node that is not in the fabric");
      const PortId id = fabric_.port_of(found->second, number);
      if (fabric_.port(id).lid != lid || fabric_.port(id).lmc != lmc)
        return damaged("OpenSM gave LID " + std::to_string(lid) + " to a port that has " +
                       std::to_string(fabric_.port(id).lid));
      if (!fabric_.is_switch(found->second)) add_endpoints(id);
    }
    return in_.ran_out() ? damaged("it is cut short") : Status();
  }

  void add_endpoints(PortId id) {
    const PortId peer = fabric_.peer(id);
    const std::uint32_t row = peer == none ? none : snapshot_.forwarding.row_of(fabric_.port(peer).node);
    const Port& port = fabric_.port(id);
    for (Lid lid = port.lid; lid < port.lid + (Lid{1} << port.lmc); ++lid) endpoints_.push_back({lid, row});
  }

  Status read_switches(std::uint32_t count) {
    const Lid lids = snapshot_.forwarding.lids();
    for (std::uint32_t i = 0; i < count && !in_.ran_out(); ++i) {
      const auto guid = in_.number<std::uint64_t>();
      const auto top = in_.number<std::uint16_t>();
      const auto ports = in_.number<std::uint8_t>();
      in_.bytes(1);
      const std::string_view table = in_.bytes(top + std::size_t{1});
      if (in_.ran_out()) break;
      auto found = nodes_.find(guid);
      if (found == nodes_.end() || !fabric_.is_switch(found->second) || fabric_.node(found->second).port_count != ports)
        return damaged("a switch that is not in the fabric");
      const std::uint32_t row = snapshot_.forwarding.row_of(found->second);
      for (Lid lid = 1; lid < std::min<std::size_t>(lids, table.size()); ++lid) {
        const auto port = static_cast<std::uint8_t>(table[lid]);
        if (port <= ports) snapshot_.forwarding.set_out_port(row, lid, port);
      }
      switches_.push_back(row);
    }
    return in_.ran_out() ? damaged("it is cut short") : Status();
  }

  Status read_levels() {
    const std::size_t size = endpoints_.size();
    const std::string_view levels = in_.bytes(size * size);
    if (in_.ran_out()) return damaged("it is cut short");
    if (!same_on_each_switch(levels)) snapshot_.forwarding.distinguish_sources();
    for (std::size_t from = 0; from < size; ++from) {
      if (endpoints_[from].row == none) continue;
      for (std::size_t to = 0; to < size; ++to) {
        const auto level = static_cast<std::uint8_t>(levels[from * size + to]);
        if (level > 15 && level != Forwarding::no_path) return damaged("a service level above 15");
        if (from != to)
          snapshot_.forwarding.set_service_level(endpoints_[from].row, endpoints_[from].lid, endpoints_[to].lid, level);
      }
    }
    return {};
  }

  /// Whether all sources of a switch use the same level to each destination but themselves.
  bool same_on_each_switch(std::string_view levels) const {
    const std::size_t size = endpoints_.size();
    std::unordered_map<std::uint32_t, std::size_t> first;
    for (std::size_t from = 0; from < size; ++from) {
      auto [held, is_first] = first.emplace(endpoints_[from].row, from);
      const std::size_t other = held->second;
      if (is_first) continue;
      for (std::size_t to = 0; to < size; ++to)
        if (to != from && to != other && levels[from * size + to] != levels[other * size + to]) return false;
    }
    return true;
  }

  Status read_lane_maps() {
    for (const std::uint32_t row : switches_) {
      const std::uint8_t ports = fabric_.node(snapshot_.forwarding.switch_at(row)).port_count;
      for (unsigned in = 0; in <= ports; ++in)
        for (unsigned out = 1; out <= ports; ++out) {
          const std::string_view packed = in_.bytes(8);
          if (in_.ran_out()) return damaged("it is cut short");
          LaneMap map;
          for (std::size_t i = 0; i < packed.size(); ++i) {
            map[2 * i] = static_cast<std::uint8_t>(packed[i]) >> 4;
            map[2 * i + 1] = static_cast<std::uint8_t>(packed[i]) & 15;
          }
          snapshot_.forwarding.set_lane_map(row, static_cast<std::uint8_t>(in), static_cast<std::uint8_t>(out), map);
        }
    }
    return {};
  }

  void count_lanes() {
    for (const Endpoint& from : endpoints_)
      for (const Endpoint& to : endpoints_)
        if (from.row != none && from.lid != to.lid) follow(from, to.lid);
  }

  /// Counts the lanes on the way from one adapter to another; a way that ends nowhere is for the checks to find.
  void follow(const Endpoint& from, Lid to) {
    Forwarding& tables = snapshot_.forwarding;
    const std::uint8_t level = tables.service_level(from.row, from.lid, to);
    if (level == Forwarding::no_path) return;
    std::uint32_t row = from.row;
    std::uint8_t in = 0;
    for (std::uint32_t hops = 0; hops < tables.rows(); ++hops) {
      const std::uint8_t out = tables.out_port(row, to);
      if (out == 0 || out == Forwarding::no_port) return;
      const PortId peer = fabric_.peer(fabric_.port_of(tables.switch_at(row), out));
      if (peer == none || !fabric_.is_switch(fabric_.port(peer).node)) return;
      const std::uint8_t lane = tables.lane(row, in, out, level);
      if (lane < 15) tables.lanes_used = std::max<std::uint8_t>(tables.lanes_used, lane + 1);
      row = tables.row_of(fabric_.port(peer).node);
      in = fabric_.number_of(peer);
    }
  }

  Reader in_;
  const Fabric& fabric_;
  std::unordered_map<std::uint64_t, NodeId> nodes_;
  std::vector<Endpoint> endpoints_;
  std::vector<std::uint32_t> switches_;
  Snapshot snapshot_;
};

}  // namespace

Result<Snapshot> read_snapshot(std::string_view bytes, const Fabric& fabric) {
  return SnapshotReader(bytes, fabric).read();
}

}  // namespace holdfast::fabric::opensm
