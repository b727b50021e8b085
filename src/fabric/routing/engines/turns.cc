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

std::uint32_t Turns::channel(std::uint32_t row, std::span<const std::uint32_t> arcs, std::uint64_t number) const {
  const std::uint64_t turn = number / divider_[row];
  const SwitchGraph::Arc& arc = graph_.arc(arcs[turn % arcs.size()]);
  return arc.first_channel + static_cast<std::uint32_t>(turn / arcs.size() % arc.channels);
}

void Turns::pick(const Choices& choices, std::uint64_t number, Balance& balance) const {
  std::vector<std::uint32_t>& picks = balance.picks();
  picks.assign(choices.order.size(), none);
  for (std::size_t i = 1; i < choices.order.size(); ++i) {
    const std::span allowed(choices.arcs.data() + choices.first[i], choices.first[i + 1] - choices.first[i]);
    picks[i] = channel(choices.order[i], allowed, number);
  }
  balance.count(choices);
}

}  // namespace holdfast::fabric
