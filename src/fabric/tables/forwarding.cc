#include "fabric/tables/forwarding.h"

#include <algorithm>
#include <utility>

#include "core/memory/available.h"
#include "core/parallel/parallel_for.h"

namespace holdfast::fabric {

namespace {

/// Row i becomes row target[i], in place, its bytes as copy(i, first, last, out) writes them. Threads share the
/// columns.
template <class Copy>
void move_rows(Entries& bytes, std::size_t width, const std::vector<std::uint32_t>& target, unsigned threads,
               const Copy& copy) {
  constexpr std::size_t columns = 2048;
  std::vector<std::uint32_t> source(target.size());
  for (std::uint32_t row = 0; row < target.size(); ++row) source[target[row]] = row;
  parallel::parallel_for(width, columns, threads, [&](unsigned /*worker*/, std::size_t begin, std::size_t end) {
    std::vector<std::uint8_t> first(end - begin);
    std::vector<std::uint8_t> moved(source.size(), 0);
    const auto at = [&](std::uint32_t row) { return bytes.data() + row * width + begin; };
    for (std::uint32_t row = 0; row < source.size(); ++row) {
      if (moved[row] != 0) continue;
      std::copy_n(at(row), first.size(), first.data());
      std::uint32_t to = row;
      for (; source[to] != row; to = source[to]) {
        copy(source[to], at(source[to]), at(source[to]) + first.size(), at(to));
        moved[to] = 1;
      }
      copy(row, first.data(), first.data() + first.size(), at(to));
      moved[to] = 1;
    }
  });
}

constexpr LaneMap identity = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

}  // namespace

Forwarding::Forwarding(const Fabric& fabric, unsigned threads)
    : lids_(fabric.top_lid() + 1), rows_(fabric.nodes().size(), none) {
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (!fabric.is_switch(node)) continue;
    rows_[node] = static_cast<std::uint32_t>(switches_.size());
    switches_.push_back(node);
    lane_ports_.push_back(fabric.node(node).port_count + 1U);
  }
  fill_entries(ports_, switches_.size() * static_cast<std::size_t>(lids_), no_port, threads);
}

Status Forwarding::check_size(const Fabric& fabric, std::string_view doing, std::string_view remedy) {
  const std::uint64_t entries = memory::estimate_product(fabric.switch_count(), std::uint64_t{fabric.top_lid()} + 1);
  return memory::check_estimate(doing, memory::estimate_product(entries, 2), remedy);
}

void Forwarding::set_service_level(std::uint32_t source_row, Lid source, Lid destination, std::uint8_t level) {
  if (levels_.empty()) {
    if (level == 0) return;
    make_service_levels();
  }
  levels_[static_cast<std::size_t>(by_source_ ? source : source_row) * lids_ + destination] = level;
}

void Forwarding::make_service_levels(unsigned threads) {
  if (!levels_.empty()) return;
  fill_entries(levels_, (by_source_ ? lids_ : switches_.size()) * static_cast<std::size_t>(lids_), 0, threads);
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

Forwarding Forwarding::numbered_as(const Fabric& fabric, const Renumbering& numbers, unsigned threads) && {
  Forwarding made;
  made.lids_ = lids_;
  made.by_source_ = by_source_;
  made.lanes_used = lanes_used;
  made.lanes_needed = lanes_needed;
  made.rows_.assign(fabric.nodes().size(), none);
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (!fabric.is_switch(node)) continue;
    made.rows_[node] = made.rows();
    made.switches_.push_back(node);
    made.lane_ports_.push_back(fabric.node(node).port_count + 1U);
  }
  std::vector<std::uint32_t> target(rows());
  std::vector<std::array<std::uint8_t, 256>> old_numbers(rows());  // of ports, by row
  const std::vector<std::uint32_t> levels = std::move(up_down_levels_);
  PortId first_port = 0;  // of the renumbered node
  for (NodeId node = 0; node < numbers.nodes.size(); ++node) {
    const NodeId old = numbers.nodes[node];
    const std::uint32_t ports = fabric.node(old).port_count + 1U;
    if (fabric.is_switch(old)) {
      const std::uint32_t row = rows_[node];
      std::array<std::uint8_t, 256>& old_number = old_numbers[row];
      old_number.fill(no_port);
      for (std::uint32_t number = 0; number < ports; ++number)
        old_number[number] =
            static_cast<std::uint8_t>(numbers.ports[first_port + number] - fabric.node(old).first_port);
      target[row] = made.rows_[old];
      for (std::uint32_t in = 0; has_lane_maps() && in < ports; ++in) {
        for (std::uint32_t out = 0; out < ports; ++out) {
          const LaneMap& map = lane_maps_[lane_first_[row] + std::size_t{in} * ports + out];
          made.set_lane_map(target[row], old_number[in], old_number[out], map);
        }
      }
    }
    first_port += ports;
  }
  made.ports_ = std::move(ports_);
  move_rows(made.ports_, lids_, target, threads,
            [&](std::uint32_t row, const std::uint8_t* first, const std::uint8_t* last, std::uint8_t* out) {
              const std::array<std::uint8_t, 256>& old_number = old_numbers[row];
              std::transform(first, last, out, [&](std::uint8_t port) { return old_number[port]; });
            });
  made.levels_ = std::move(levels_);
  if (!by_source_ && !made.levels_.empty())
    move_rows(made.levels_, lids_, target, threads,
              [](std::uint32_t /*row*/, const std::uint8_t* first, const std::uint8_t* last, std::uint8_t* out) {
                std::copy(first, last, out);
              });
  made.up_down_levels_.resize(levels.size());
  for (std::uint32_t row = 0; row < levels.size(); ++row) made.up_down_levels_[target[row]] = levels[row];
  return made;
}

}  // namespace holdfast::fabric
