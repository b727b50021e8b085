#include "fabric/routing/engines/mended_tables.h"

namespace holdfast::fabric {

MendedTables::MendedTables(const Fabric& fabric, const SwitchGraph& graph, Forwarding& tables)
    : fabric_(fabric),
      graph_(graph),
      tables_(tables),
      arcs_(graph, tables),
      old_port_(graph.rows()),
      broken_(graph.rows()),
      hops_(graph.rows()),
      measured_(graph.rows()) {}

void MendedTables::set_out_port(std::uint32_t row, Lid lid, std::uint8_t port) {
  changes_.push_back({row, lid, tables_.out_port(row, lid), false});
  tables_.set_out_port(row, lid, port);
}

void MendedTables::set_service_level(std::uint32_t row, Lid lid, std::uint8_t level) {
  changes_.push_back({row, lid, tables_.service_level(row, 0, lid), true});
  tables_.set_service_level(row, 0, lid, level);
}

void MendedTables::take_back() {
  for (; !changes_.empty(); changes_.pop_back()) {
    const Change& change = changes_.back();
    if (change.is_level) {
      tables_.set_service_level(change.row, 0, change.lid, change.before);
    } else {
      tables_.set_out_port(change.row, change.lid, change.before);
    }
  }
}

PortId MendedTables::old_far_end(std::uint32_t row) const {
  const Node& node = fabric_.node(graph_.switch_at(row));
  const std::uint8_t port = old_port_[row];
  if (port == 0 || port > node.port_count || fabric_.port(node.first_port + port).link == none) return none;
  const Link& cable = fabric_.link(fabric_.port(node.first_port + port).link);
  return cable.a == node.first_port + port ? cable.b : cable.a;
}

std::uint32_t MendedTables::measure(std::uint32_t row, Lid lid) {
  way_.clear();
  while (measured_[row] != round_) {
    const std::uint32_t arc = way_.size() > graph_.rows() ? none : arcs_.next(row, lid);
    way_.push_back(row);
    if (arc == none) {  // it never had a way
      for (const std::uint32_t on_way : way_) note(on_way, none);
      return none;
    }
    row = graph_.arc(arc).to;
  }
  std::uint32_t hops = hops_[row];
  for (auto back = way_.rbegin(); back != way_.rend(); ++back) {
    hops = hops == none ? none : hops + 1;
    note(*back, hops);
  }
  return hops;
}

void MendedTables::enter(std::uint32_t row, Lid lid, std::uint32_t arc) {
  if (old_arc(row) == arc) {
    set_out_port(row, lid, old_port_[row]);
    return;
  }
  const std::uint32_t channel = best_channel(arc);
  set_out_port(row, lid, graph_.channels()[channel].port);
  if (counted_.empty() || counted_[row] == 0) return;  // who counts later counts this entry
  ++lids_by_channel_[channel];
  if (busy(row, lid)) ++busy_by_channel_[channel];
}

std::uint32_t MendedTables::lids_of(std::uint32_t channel) {
  count_lids(graph_.arc(graph_.channels()[channel].arc).from);
  return lids_by_channel_[channel];
}

std::uint32_t MendedTables::busy_lids_of(std::uint32_t channel) {
  count_lids(graph_.arc(graph_.channels()[channel].arc).from);
  return busy_by_channel_[channel];
}

bool MendedTables::busy(std::uint32_t row, Lid lid) {
  count_lids(row);
  return busy_[row].empty() || busy_[row][lid] != 0;
}

void MendedTables::count_lids(std::uint32_t row) {
  if (lids_by_channel_.empty()) {
    lids_by_channel_.assign(graph_.channels().size(), 0);
    busy_by_channel_.assign(graph_.channels().size(), 0);
    busy_.resize(graph_.rows());
    counted_.assign(graph_.rows(), 0);
  }
  if (counted_[row] != 0) return;
  counted_[row] = 1;
  find_busy(row);
  const std::uint8_t* table = std::as_const(tables_).table(row);
  std::array<std::uint32_t, 256> by_port = {};
  std::array<std::uint32_t, 256> busy_by_port = {};
  for (Lid lid = 0; lid < tables_.lids(); ++lid) {
    ++by_port[table[lid]];
    if (!busy_[row].empty()) busy_by_port[table[lid]] += busy_[row][lid];
  }
  if (busy_[row].empty()) busy_by_port = by_port;
  for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
    for (std::uint32_t i = arc.first_channel; i < arc.first_channel + arc.channels; ++i) {
      lids_by_channel_[i] = by_port[graph_.channels()[i].port];
      busy_by_channel_[i] = busy_by_port[graph_.channels()[i].port];
    }
  }
}

/// Of a switch without adapters that has neighbours with some: the LIDs that these send to it. Of all others, each
/// LID counts; likewise when there are so many switches to look at that it would take long.
void MendedTables::find_busy(std::uint32_t row) {
  constexpr unsigned most_rows = 64;
  if (graph_.sources_at(row) != 0 || rows_with_busy_ >= most_rows) return;
  std::vector<std::uint8_t> busy;
  for (const SwitchGraph::Arc& out : graph_.arcs_of(row)) {
    if (graph_.sources_at(out.to) == 0) continue;
    busy.resize(tables_.lids());
    const SwitchGraph::Arc& in = graph_.arc(out.reverse);
    const std::uint8_t* table = std::as_const(tables_).table(in.from);
    for (std::uint32_t i = in.first_channel; i < in.first_channel + in.channels; ++i) {
      const std::uint8_t port = graph_.channels()[i].port;
      for (std::size_t lid = 0; lid < busy.size(); ++lid)
        busy[lid] = static_cast<std::uint8_t>(busy[lid] | (table[lid] == port ? 1 : 0));
    }
  }
  if (!busy.empty()) ++rows_with_busy_;
  busy_[row] = std::move(busy);
}

std::uint32_t MendedTables::best_channel(std::uint32_t id) {
  const SwitchGraph::Arc& arc = graph_.arc(id);
  std::uint32_t best = arc.first_channel;
  for (std::uint32_t i = 1; i < arc.channels; ++i) {
    if (lids_of(arc.first_channel + i) < lids_of(best)) best = arc.first_channel + i;
  }
  return best;
}

}  // namespace holdfast::fabric
