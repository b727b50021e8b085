#include "fabric/routing/graph/switch_graph.h"

#include <algorithm>

namespace holdfast::fabric {

SwitchGraph::SwitchGraph(const Fabric& fabric) {
  std::vector<std::uint32_t> row_of(fabric.nodes().size(), none);
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (!fabric.is_switch(node)) continue;
    row_of[node] = static_cast<std::uint32_t>(switches_.size());
    switches_.push_back(node);
    switch_lids_.push_back(fabric.port(fabric.port_of(node, 0)).lid);
  }
  sources_.assign(rows(), 0);
  for (std::uint32_t row = 0; row < rows(); ++row) {
    first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));
    first_terminal_.push_back(static_cast<std::uint32_t>(terminals_.size()));
    add_arcs(fabric, row_of, row);
    add_terminals(fabric, row);
    source_count_ += sources_[row];
  }
  first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));
  first_terminal_.push_back(static_cast<std::uint32_t>(terminals_.size()));
  pair_arcs();
}

void SwitchGraph::add_arcs(const Fabric& fabric, const std::vector<std::uint32_t>& row_of, std::uint32_t row) {
  const Node& node = fabric.node(switches_[row]);
  std::vector<Arc> found;
  std::vector<std::vector<std::uint8_t>> ports;
  for (std::uint32_t number = 1; number <= node.port_count; ++number) {
    const PortId far = fabric.peer(node.first_port + number);
    if (far == none || !fabric.is_switch(fabric.port(far).node)) continue;
    const std::uint32_t to = row_of[fabric.port(far).node];
    if (to == row) continue;
    auto arc = std::find_if(found.begin(), found.end(), [&](const Arc& one) { return one.to == to; });
    if (arc == found.end()) {
      found.push_back({row, to, 0, 0, none});
      ports.emplace_back();
      arc = found.end() - 1;
    }
    ports[static_cast<std::size_t>(arc - found.begin())].push_back(static_cast<std::uint8_t>(number));
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    Arc arc = found[i];
    arc.first_channel = static_cast<std::uint32_t>(channels_.size());
    arc.channels = static_cast<std::uint32_t>(ports[i].size());
    for (const std::uint8_t port : ports[i]) channels_.push_back({port, static_cast<std::uint32_t>(arcs_.size())});
    arcs_.push_back(arc);
    only_ports_.push_back(ports[i].size() == 1 ? ports[i].front() : std::uint8_t{0});
  }
}

void SwitchGraph::add_terminals(const Fabric& fabric, std::uint32_t row) {
  const Node& node = fabric.node(switches_[row]);
  for (std::uint32_t number = 1; number <= node.port_count; ++number) {
    const PortId far = fabric.peer(node.first_port + number);
    if (far == none || fabric.is_switch(fabric.port(far).node) || fabric.port(far).lid == 0) continue;
    ++sources_[row];
    for (std::uint32_t offset = 0; offset < 1U << fabric.port(far).lmc; ++offset) {
      terminals_.push_back({fabric.port(far).lid + offset, far, row, static_cast<std::uint8_t>(number)});
    }
  }
}

void SwitchGraph::pair_arcs() {
  for (std::uint32_t id = 0; id < arcs_.size(); ++id) {
    if (arcs_[id].reverse != none) continue;
    for (std::uint32_t back = first_arc_[arcs_[id].to]; back < first_arc_[arcs_[id].to + 1]; ++back) {
      if (arcs_[back].to != arcs_[id].from) continue;
      arcs_[id].reverse = back;
      arcs_[back].reverse = id;
      break;
    }
  }
}

void SwitchGraph::distances_to(std::uint32_t row, std::vector<std::uint32_t>& distance) const {
  distance.assign(rows(), none);
  std::vector<std::uint32_t> queue = {row};
  queue.reserve(rows());
  distance[row] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const Arc& arc : arcs_of(queue[head])) {
      if (distance[arc.to] != none) continue;
      distance[arc.to] = distance[queue[head]] + 1;
      queue.push_back(arc.to);
    }
  }
}

Forwarding SwitchGraph::local_tables(const Fabric& fabric) const {
  Forwarding tables(fabric);
  for (std::uint32_t row = 0; row < rows(); ++row) {
    if (switch_lids_[row] != 0) tables.set_out_port(row, switch_lids_[row], 0);
  }
  for (const Terminal& terminal : terminals_) tables.set_out_port(terminal.row, terminal.lid, terminal.port);
  return tables;
}

}  // namespace holdfast::fabric
