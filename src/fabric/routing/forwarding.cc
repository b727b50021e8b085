#include "fabric/routing/forwarding.h"

#include <utility>

namespace holdfast::fabric {

namespace {

constexpr LaneMap identity = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

}  // namespace

Forwarding::Forwarding(const Fabric& fabric) : lids_(fabric.top_lid() + 1), rows_(fabric.nodes().size(), none) {
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (!fabric.is_switch(node)) continue;
    rows_[node] = static_cast<std::uint32_t>(switches_.size());
    switches_.push_back(node);
    lane_ports_.push_back(fabric.node(node).port_count + 1U);
  }
  ports_.assign(switches_.size() * static_cast<std::size_t>(lids_), no_port);
}

void Forwarding::set_service_level(std::uint32_t source_row, Lid source, Lid destination, std::uint8_t level) {
  if (levels_.empty()) {
    if (level == 0) return;
    levels_.assign((by_source_ ? lids_ : switches_.size()) * static_cast<std::size_t>(lids_), 0);
  }
  levels_[static_cast<std::size_t>(by_source_ ? source : source_row) * lids_ + destination] = level;
}

void Forwarding::distinguish_sources() {
  if (by_source_) return;
  by_source_ = true;
  levels_.assign(static_cast<std::size_t>(lids_) * lids_, 0);
}

void Forwarding::make_lane_maps() {
  std::size_t total = 0;
  lane_first_.clear();
  for (const std::uint32_t ports : lane_ports_) {
    lane_first_.push_back(total);
    total += static_cast<std::size_t>(ports) * ports;
  }
  lane_maps_.assign(total, identity);
}

void Forwarding::set_lane_map(std::uint32_t row, std::uint8_t in, std::uint8_t out, const LaneMap& map) {
  if (lane_maps_.empty()) make_lane_maps();
  lane_maps_[lane_first_[row] + static_cast<std::size_t>(in) * lane_ports_[row] + out] = map;
}

}  // namespace holdfast::fabric
