#include "fabric/routing/engines/relief.h"

#include <algorithm>
#include <array>

namespace holdfast::fabric {

Relief::Relief(const SwitchGraph& graph, Balance& balance, Forwarding& tables)
    : graph_(graph),
      balance_(balance),
      tables_(tables),
      channel_at_(graph.rows() * 256U, none),
      loads_before_(balance.loads()) {
  for (std::uint32_t id = 0; id < graph.channels().size(); ++id) {
    const SwitchGraph::Channel& channel = graph.channels()[id];
    channel_at_[graph.arc(channel.arc).from * 256U + channel.port] = id;
  }
}

std::uint64_t affordable_passes(const SwitchGraph& graph, std::uint64_t affordable) {
  constexpr std::uint64_t enough = 8;
  const std::uint64_t in_a_pass = std::uint64_t{graph.terminals().size()} * graph.arcs().size() / 2;
  return std::min(enough, affordable / std::max<std::uint64_t>(in_a_pass, 1));
}

bool lies_in_levels(const SwitchGraph& graph) {
  const std::vector<std::uint32_t> level = levels_above_adapters(graph);
  return !graph.arcs().empty() && std::all_of(graph.arcs().begin(), graph.arcs().end(), [&](const auto& arc) {
    return level[arc.from] + 1 == level[arc.to] || level[arc.to] + 1 == level[arc.from];
  });
}

bool has_two_levels(const SwitchGraph& graph) {
  return !graph.arcs().empty() && std::all_of(graph.arcs().begin(), graph.arcs().end(), [&](const auto& arc) {
    return (graph.sources_at(arc.from) == 0) != (graph.sources_at(arc.to) == 0);
  });
}

std::uint64_t even_load_of_levels(const SwitchGraph& graph, const Balance& balance) {
  if (!lies_in_levels(graph)) return 0;
  const std::vector<std::uint32_t> level = levels_above_adapters(graph);
  std::uint64_t fullest = 0;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    std::array<std::uint64_t, 2> sum = {};  // by down, up
    std::array<std::uint64_t, 2> channels = {};
    for (const SwitchGraph::Arc& arc : graph.arcs_of(row)) {
      const std::size_t up = level[arc.to] > level[row] ? 1 : 0;
      for (std::uint32_t channel = arc.first_channel; channel < arc.first_channel + arc.channels; ++channel)
        sum[up] += balance.load(channel);
      channels[up] += arc.channels;
    }
    for (const std::size_t up : {0U, 1U})
      if (channels[up] != 0) fullest = std::max(fullest, (sum[up] + channels[up] - 1) / channels[up]);
  }
  return fullest;
}

double Relief::sum_of_cubes(const std::vector<std::uint64_t>& loads) const {
  double sum = 0;
  for (const std::uint32_t channel : touched_) {
    const auto load = static_cast<double>(loads[channel]);
    sum += load * load * load;
  }
  return sum;
}

void Relief::take_away(const Choices& before, Lid lid) {
  before_.assign(before.order.size(), none);
  for (std::size_t i = 1; i < before.order.size(); ++i) before_[i] = channel_of(before.order[i], lid);
  balance_.picks() = before_;
  balance_.uncount(before);
}

bool Relief::keep_better(const Choices& before, const Choices& after) {
  const std::vector<std::uint32_t>& picks = balance_.picks();
  if (picks == before_ && before.order == after.order) return true;
  touched_.assign(picks.begin() + 1, picks.end());
  touched_.insert(touched_.end(), before_.begin() + 1, before_.end());
  if (sum_of_cubes(balance_.loads()) >= sum_of_cubes(loads_before_)) {
    balance_.restore(touched_, loads_before_);
    return true;
  }
  for (const std::uint32_t channel : touched_) loads_before_[channel] = balance_.load(channel);
  return false;
}

}  // namespace holdfast::fabric
