#include "fabric/routing/engines/turns.h"

#include <algorithm>
#include <numeric>

namespace holdfast::fabric {

Turns::Turns(const SwitchGraph& graph, const std::vector<std::uint32_t>& level)
    : graph_(graph), divider_(graph.rows(), 1) {
  std::vector<std::uint32_t> rows(graph.rows());
  std::iota(rows.begin(), rows.end(), 0U);
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) { return level[a] < level[b]; });
  const std::uint64_t enough = std::max<std::uint64_t>(graph.terminals().size(), 1);  // a larger one changes nothing
  for (const std::uint32_t row : rows) {
    const auto up =
        std::ranges::count_if(graph.arcs_of(row), [&](const auto& arc) { return level[arc.to] > level[row]; });
    const std::uint64_t above = std::min(enough, divider_[row] * static_cast<std::uint64_t>(up));
    for (const SwitchGraph::Arc& arc : graph.arcs_of(row)) {
      if (level[arc.to] > level[row]) divider_[arc.to] = std::max(divider_[arc.to], above);
    }
  }
}

void ManagementRoutes::lay(const Choices& choices) {
  const std::uint32_t to = choices.order[0];
  const Lid own = graph_.switch_lid(to);
  if (own != 0) {
    if (lids_.size() == together) enter();
    if (lids_.empty()) ports_.assign(graph_.rows() * together, Forwarding::no_port);
    std::uint8_t* ports = ports_.data() + lids_.size();
    lids_.push_back(own);
    for (std::size_t i = 1; i < choices.order.size(); ++i) {
      const std::uint32_t count = choices.first[i + 1] - choices.first[i];
      const std::uint32_t id = choices.arcs[choices.first[i] + to % count];
      std::uint8_t port = graph_.only_port(id);
      if (port == 0) port = graph_.channels()[channel_in_turn(graph_.arc(id), to / count)].port;
      ports[choices.order[i] * together] = port;
    }
  }
  for (const std::uint32_t channel : channels_of_rest(graph_, choices)) {
    const SwitchGraph::Channel& out = graph_.channels()[channel];
    std::uint8_t* table = tables_.table(graph_.arc(out.arc).from);
    if (own != 0) table[own] = out.port;
    for (const SwitchGraph::Terminal& adapter : graph_.terminals_at(to)) table[adapter.lid] = out.port;
  }
}

void ManagementRoutes::enter() {
  for (std::uint32_t row = 0; row < graph_.rows() && !lids_.empty(); ++row) {
    std::uint8_t* table = tables_.table(row);
    for (std::size_t i = 0; i < lids_.size(); ++i) {
      const std::uint8_t port = ports_[row * together + i];
      if (port != Forwarding::no_port) table[lids_[i]] = port;
    }
  }
  lids_.clear();
}

}  // namespace holdfast::fabric
