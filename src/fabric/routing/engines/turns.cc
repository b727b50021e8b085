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

void lay_management(const SwitchGraph& graph, const Choices& choices, Forwarding& tables) {
  const std::uint32_t to = choices.order[0];
  const Lid own = graph.switch_lid(to);
  for (std::size_t i = 1; own != 0 && i < choices.order.size(); ++i) {
    const std::uint32_t count = choices.first[i + 1] - choices.first[i];
    const SwitchGraph::Arc& arc = graph.arc(choices.arcs[choices.first[i] + to % count]);
    tables.table(choices.order[i])[own] = graph.channels()[channel_in_turn(arc, to / count)].port;
  }
  for (const std::uint32_t channel : channels_of_rest(graph, choices)) {
    const SwitchGraph::Channel& out = graph.channels()[channel];
    std::uint8_t* table = tables.table(graph.arc(out.arc).from);
    if (own != 0) table[own] = out.port;
    for (const SwitchGraph::Terminal& adapter : graph.terminals_at(to)) table[adapter.lid] = out.port;
  }
}

/// The farthest switch first: what passes through one is known when its turn comes.
void TurnTables::lay(const Choices& choices) {
  lay_management(graph_, choices, tables_);
  const std::span<const SwitchGraph::Terminal> adapters = graph_.terminals_at(choices.order[0]);
  if (adapters.empty()) return;
  const auto number = static_cast<std::uint64_t>(adapters.data() - graph_.terminals().data());
  const std::size_t count = adapters.size();
  through_.assign(graph_.rows() * count, 0);
  for (std::size_t i = choices.order.size(); i-- > 1;) {
    const std::uint32_t row = choices.order[i];
    const std::uint32_t begin_here = graph_.sources_at(row);
    const std::uint32_t* through = through_.data() + row * count;
    std::uint8_t* table = tables_.table(row);
    const std::span allowed(choices.arcs.data() + choices.first[i], choices.first[i + 1] - choices.first[i]);
    turns_.deal(row, allowed, number, count, [&](std::size_t first, std::size_t last, std::uint32_t channel) {
      const SwitchGraph::Channel& out = graph_.channels()[channel];
      std::uint32_t* next = through_.data() + graph_.arc(out.arc).to * count;
      std::uint64_t sum = 0;
      for (std::size_t at = first; at < last; ++at) {
        const std::uint32_t routes = through[at] + begin_here;
        table[adapters[at].lid] = out.port;
        next[at] += routes;
        sum += routes;
      }
      load_[channel] += sum;
    });
  }
}

}  // namespace holdfast::fabric
