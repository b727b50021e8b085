#include "fabric/routing/balance.h"

namespace holdfast::fabric {

Balance::Balance(const SwitchGraph& graph)
    : graph_(graph),
      load_(graph.channels().size()),
      entries_(graph.channels().size()),
      through_(graph.rows()),
      cost_(graph.rows()) {
  for (const SwitchGraph::Channel& channel : graph.channels()) {
    to_.push_back(graph.arc(channel.arc).to);
    port_.push_back(channel.port);
  }
}

void Balance::prepare(const Choices& choices) {
  picks_.assign(choices.order.size(), none);
  for (const std::uint32_t row : choices.order) through_[row] = graph_.sources_at(row);
}

void Balance::pick_by_switch(const Choices& choices, bool counts) {
  prepare(choices);
  for (std::size_t i = choices.order.size(); i-- > 1;) {
    const std::uint32_t row = choices.order[i];
    std::uint32_t best = choices.channels[choices.first[i]];
    for (std::uint32_t at = choices.first[i] + 1; at < choices.first[i + 1]; ++at) {
      const std::uint32_t channel = choices.channels[at];
      if (load_[channel] > load_[best]) continue;
      if (load_[channel] < load_[best] || entries_[channel] < entries_[best]) best = channel;
    }
    picks_[i] = best;
    if (!counts) continue;
    ++entries_[best];
    load_[best] += through_[row];
    through_[to_[best]] += through_[row];
  }
}

void Balance::pick_by_path(const Choices& choices, bool counts) {
  prepare(choices);
  cost_[choices.order[0]] = 0;
  for (std::size_t i = 1; i < choices.order.size(); ++i) {
    std::uint32_t best = none;
    std::uint64_t least = 0;
    for (std::uint32_t at = choices.first[i]; at < choices.first[i + 1]; ++at) {
      const std::uint32_t channel = choices.channels[at];
      const std::uint64_t cost = load_[channel] + cost_[to_[channel]];
      if (best != none && cost >= least) continue;
      best = channel;
      least = cost;
    }
    picks_[i] = best;
    cost_[choices.order[i]] = least;
  }
  if (counts) count(choices);
}

void Balance::count(const Choices& choices) {
  for (const std::uint32_t row : choices.order) through_[row] = graph_.sources_at(row);
  for (std::size_t i = choices.order.size(); i-- > 1;) {
    const std::uint32_t through = through_[choices.order[i]];
    ++entries_[picks_[i]];
    load_[picks_[i]] += through;
    through_[to_[picks_[i]]] += through;
  }
}

void Balance::enter(const Choices& choices, Lid lid, Forwarding& tables) const {
  for (std::size_t i = 1; i < choices.order.size(); ++i) tables.set_out_port(choices.order[i], lid, port_[picks_[i]]);
}

}  // namespace holdfast::fabric
