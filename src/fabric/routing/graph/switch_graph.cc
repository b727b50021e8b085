#include "fabric/routing/graph/switch_graph.h"

#include <algorithm>
#include <array>

namespace holdfast::fabric {

SwitchGraph::SwitchGraph(const Fabric& fabric) {
  std::vector<std::uint32_t> row_of(fabric.nodes().size(), none);
  std::size_t ports = 0;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (!fabric.is_switch(node)) continue;
    row_of[node] = static_cast<std::uint32_t>(switches_.size());
    switches_.push_back(node);
    switch_lids_.push_back(fabric.port(fabric.port_of(node, 0)).lid);
    ports += fabric.node(node).port_count;
  }
  arcs_.reserve(ports);
  channels_.reserve(ports);
  sources_.assign(rows(), 0);
  std::vector<std::uint32_t> latest_to(rows(), none);
  for (std::uint32_t row = 0; row < rows(); ++row) {
    first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));
    first_terminal_.push_back(static_cast<std::uint32_t>(terminals_.size()));
    add_arcs(fabric, row_of, row, latest_to);
    add_terminals(fabric, row);
    source_count_ += sources_[row];
  }
  first_arc_.push_back(static_cast<std::uint32_t>(arcs_.size()));
  first_terminal_.push_back(static_cast<std::uint32_t>(terminals_.size()));
  pair_arcs();
}

void SwitchGraph::add_arcs(const Fabric& fabric, const std::vector<std::uint32_t>& row_of, std::uint32_t row,
                           std::vector<std::uint32_t>& latest_to) {
  const Node& node = fabric.node(switches_[row]);
  const auto first = static_cast<std::uint32_t>(arcs_.size());
  std::array<std::uint32_t, 256> arc_of_port;
  arc_of_port.fill(none);
  for (std::uint32_t number = 1; number <= node.port_count; ++number) {
    const PortId far = fabric.peer(node.first_port + number);
    if (far == none || !fabric.is_switch(fabric.port(far).node)) continue;
    const std::uint32_t to = row_of[fabric.port(far).node];
    if (to == row) continue;
    std::uint32_t& id = latest_to[to];
    if (id == none || id < first) {  // one of an earlier row
      id = static_cast<std::uint32_t>(arcs_.size());
      arcs_.push_back({row, to, 0, 0, none});
    }
    ++arcs_[id].channels;
    arc_of_port[number] = id;
  }
  auto channel = static_cast<std::uint32_t>(channels_.size());
  for (std::uint32_t id = first; id < arcs_.size(); channel += arcs_[id++].channels) arcs_[id].first_channel = channel;
  channels_.resize(channel);
  only_ports_.resize(arcs_.size(), 0);
  std::array<std::uint8_t, 256> entered = {};  // by arc of this row
  for (std::uint32_t number = 1; number <= node.port_count; ++number) {
    const std::uint32_t id = arc_of_port[number];
    if (id == none) continue;
    const auto port = static_cast<std::uint8_t>(number);
    channels_[arcs_[id].first_channel + entered[id - first]++] = {port, id};
    if (arcs_[id].channels == 1) only_ports_[id] = port;
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

/// A row has as many arcs to it as from it: those to it are listed first, by the row that they leave.
void SwitchGraph::pair_arcs() {
  std::vector<std::uint32_t> into(arcs_.size());
  std::vector<std::uint32_t> next = first_arc_;
  for (std::uint32_t id = 0; id < arcs_.size(); ++id) into[next[arcs_[id].to]++] = id;
  std::vector<std::uint32_t> to(rows());  // by row: the arc that leads there
  for (std::uint32_t row = 0; row < rows(); ++row) {
    for (std::uint32_t id = first_arc_[row]; id < first_arc_[row + 1]; ++id) to[arcs_[id].to] = id;
    for (std::uint32_t at = first_arc_[row]; at < first_arc_[row + 1]; ++at)
      arcs_[into[at]].reverse = to[arcs_[into[at]].from];
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

Forwarding SwitchGraph::local_tables(const Fabric& fabric, unsigned threads) const {
  Forwarding tables(fabric, threads);
  for (std::uint32_t row = 0; row < rows(); ++row) {
    if (switch_lids_[row] != 0) tables.set_out_port(row, switch_lids_[row], 0);
  }
  for (const Terminal& terminal : terminals_) tables.set_out_port(terminal.row, terminal.lid, terminal.port);
  return tables;
}

}  // namespace holdfast::fabric
