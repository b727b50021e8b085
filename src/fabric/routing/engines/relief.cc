#include "fabric/routing/engines/relief.h"

#include <algorithm>
#include <array>

namespace holdfast::fabric {

Relief::Relief(const SwitchGraph& graph, Balance& balance, Forwarding& tables)
    : graph_(graph),
      balance_(balance),
      tables_(tables),
      channel_at_(std::size_t{graph.rows()} * 256, none),
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

double Relief::sum_of_weights(const std::vector<std::uint64_t>& loads) const {
  double sum = 0;
  for (const std::uint32_t channel : touched_) sum += balance_.weight(loads[channel]);
  return sum;
}

void Relief::read_picks(const Choices& choices, Lid lid, std::vector<std::uint32_t>& picks) const {
  picks.assign(choices.order.size(), none);
  for (std::size_t i = 1; i < choices.order.size(); ++i) picks[i] = channel_of(choices.order[i], lid);
}

void Relief::take_away(const Choices& before, Lid lid) {
  read_picks(before, lid, before_);
  balance_.picks() = before_;
  balance_.uncount(before);
}

bool Relief::keep_better(const Choices& before, const Choices& after) {
  const std::vector<std::uint32_t>& picks = balance_.picks();
  if (picks == before_ && before.order == after.order) return true;
  touched_.assign(picks.begin() + 1, picks.end());
  touched_.insert(touched_.end(), before_.begin() + 1, before_.end());
  if (sum_of_weights(balance_.loads()) >= sum_of_weights(loads_before_)) {
    balance_.restore(touched_, loads_before_);
    return true;
  }
  for (const std::uint32_t channel : touched_) loads_before_[channel] = balance_.load(channel);
  return false;
}

void relieve_fullest(const SwitchGraph& graph, unsigned rounds, const std::vector<Choices>& known, Forwarding& tables) {
  Balance balance(graph);
  const Relief by_channel(graph, balance, tables);
  for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
    by_channel.read_picks(known[terminal.row], terminal.lid, balance.picks());
    balance.count(known[terminal.row]);
  }
  balance.price_steeply();
  Forwarding tried = tables;
  Relief relief(graph, balance, tried);
  std::uint64_t fullest = balance.largest_load();
  const auto crosses_fullest = [&](const Choices& choices, Lid lid) {
    return std::any_of(choices.order.begin() + 1, choices.order.end(),
                       [&](std::uint32_t row) { return balance.load(relief.channel_of(row, lid)) == fullest; });
  };
  for (unsigned round = 0; round < rounds; ++round) {
    for (const std::uint32_t row : scattered_rows(graph)) {
      for (const SwitchGraph::Terminal& terminal : graph.terminals_at(row)) {
        if (crosses_fullest(known[row], terminal.lid)) relief.improve(known[row], terminal.lid);
      }
    }
    if (balance.largest_load() >= fullest) return;
    fullest = balance.largest_load();
    tables = tried;
  }
}

}  // namespace holdfast::fabric
