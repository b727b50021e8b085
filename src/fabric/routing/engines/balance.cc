#include "fabric/routing/engines/balance.h"

#include <numeric>

namespace holdfast::fabric {
namespace {

template <class Number>
Number power_16(Number number) {
  for (int i = 0; i < 4; ++i) number *= number;
  return number;
}

/// Four groups where there is much to choose from; otherwise settling costs between them would take longer than
/// picking.
std::size_t groups_for(const Choices& choices) {
  constexpr std::size_t much = 5;
  return choices.arcs.size() >= much * choices.order.size() ? 4 : 1;
}

}  // namespace

Balance::Balance(const SwitchGraph& graph, Picking picking)
    : graph_(graph),
      picking_(picking),
      load_(graph.channels().size()),
      price_(graph.channels().size()),
      through_(graph.rows()),
      cost_(graph.rows()),
      next_(graph.rows(), none) {
  for (const SwitchGraph::Channel& channel : graph.channels()) {
    arc_.push_back(channel.arc);
    port_.push_back(channel.port);
  }
  for (const SwitchGraph::Arc& arc : graph.arcs()) {
    ways_.push_back({0, arc.to});
    bundles_.push_back({arc.first_channel, arc.first_channel, arc.first_channel + arc.channels});
  }
}

void Balance::price_steeply() {
  steep_ = 1 / static_cast<float>(std::max<std::uint64_t>(largest_load(), 1));
  for (std::uint32_t channel = 0; channel < load_.size(); ++channel) refresh(channel);
}

float Balance::cost_of(std::uint64_t load) const {
  const auto routes = static_cast<float>(load);
  return steep_ == 0 ? routes * routes : power_16(routes * steep_);
}

double Balance::weight(std::uint64_t load) const {
  const auto routes = static_cast<double>(load);
  if (steep_ == 0) return routes * routes * routes;
  const double part = routes * static_cast<double>(steep_);
  return part * power_16(part);
}

void Balance::refresh(std::uint32_t changed) {
  price_[changed] = cost_of(load_[changed]);
  const std::uint32_t arc = arc_[changed];
  Bundle& bundle = bundles_[arc];
  if (bundle.end - bundle.first == 1) {
    ways_[arc].cost = price_[changed];
    return;
  }
  std::uint32_t best = bundle.first;
  std::uint64_t least = load_[best];
  for (std::uint32_t channel = best + 1; channel < bundle.end; ++channel) {
    const bool emptier = load_[channel] < least;  // no branch: which one is next cannot be foretold
    best = emptier ? channel : best;
    least = emptier ? load_[channel] : least;
  }
  bundle.emptiest = best;
  ways_[arc].cost = price_[best];
}

/// The arc; its cost is then the row's.
std::uint32_t Balance::pick_for(const Choices& choices, std::size_t position) {
  const std::uint32_t* arc = choices.arcs.data() + choices.first[position];
  const std::uint32_t* end = choices.arcs.data() + choices.first[position + 1];
  std::uint32_t best = *arc;
  float least = ways_[best].cost + cost_[ways_[best].to];
  for (++arc; arc != end; ++arc) {
    const Way way = ways_[*arc];
    const float cost = way.cost + cost_[way.to];
    best = cost < least ? *arc : best;
    least = cost < least ? cost : least;
  }
  cost_[choices.order[position]] = least;
  return best;
}

void Balance::count_from(std::uint32_t row) {
  const std::uint32_t sources = graph_.sources_at(row);
  for (std::uint32_t channel = next_[row]; channel != none;) {
    load_[channel] += sources;
    refresh(channel);
    channel = next_[ways_[arc_[channel]].to];
  }
}

/// Of the picks so far, since loads have grown.
void Balance::settle_costs(const Choices& choices, std::size_t end) {
  for (std::size_t i = 1; i < end; ++i) {
    cost_[choices.order[i]] = price_[picks_[i]] + cost_[onward_[i]];
  }
}

void Balance::pick(const Choices& choices) {
  const std::size_t rows = choices.order.size();
  picks_.assign(rows, none);
  cost_[choices.order[0]] = 0;
  const std::size_t groups = picking_ == Picking::in_groups ? groups_for(choices) : rows;
  if (picking_ == Picking::at_once || groups == 1) {
    for (std::size_t i = 1; i < rows; ++i) picks_[i] = bundles_[pick_for(choices, i)].emptiest;
    count(choices);
    return;
  }
  next_[choices.order[0]] = none;
  onward_.resize(rows);
  const std::size_t senders =
      static_cast<std::size_t>(std::count_if(choices.order.begin() + 1, choices.order.end(),
                                             [this](std::uint32_t row) { return graph_.sources_at(row) != 0; }));
  const std::size_t in_group = (senders + groups - 1) / groups;
  std::size_t waiting = 0;
  std::size_t counted = 1;
  for (std::size_t i = 1; i < rows; ++i) {
    const std::uint32_t row = choices.order[i];
    const std::uint32_t arc = pick_for(choices, i);
    next_[row] = picks_[i] = bundles_[arc].emptiest;
    onward_[i] = ways_[arc].to;
    if (graph_.sources_at(row) != 0) ++waiting;
    if (waiting < in_group && i + 1 < rows) continue;
    waiting = 0;
    for (; counted <= i; ++counted) {
      if (graph_.sources_at(choices.order[counted]) != 0) count_from(choices.order[counted]);
    }
    if (counted < rows) settle_costs(choices, counted);
  }
}

void Balance::pick_in_turn(const Choices& choices, std::uint32_t turn) {
  picks_.assign(choices.order.size(), none);
  for (std::size_t i = 1; i < choices.order.size(); ++i) {
    const std::uint32_t count = choices.first[i + 1] - choices.first[i];
    const Bundle& bundle = bundles_[choices.arcs[choices.first[i] + (count == 1 ? 0 : turn % count)]];
    picks_[i] = bundle.first + (bundle.end - bundle.first == 1 ? 0 : turn % (bundle.end - bundle.first));
  }
}

template <class Change>
void Balance::change_loads(const Choices& choices, const Change& change) {
  for (const std::uint32_t row : choices.order) through_[row] = graph_.sources_at(row);
  for (std::size_t i = choices.order.size(); i-- > 1;) {
    const std::uint32_t through = through_[choices.order[i]];
    if (through == 0) continue;
    change(load_[picks_[i]], through);
    through_[ways_[arc_[picks_[i]]].to] += through;
    refresh(picks_[i]);
  }
}

void Balance::count(const Choices& choices) {
  change_loads(choices, [](std::uint64_t& load, std::uint32_t through) { load += through; });
}

void Balance::uncount(const Choices& choices) {
  change_loads(choices, [](std::uint64_t& load, std::uint32_t through) { load -= through; });
}

void Balance::restore(const std::vector<std::uint32_t>& channels, const std::vector<std::uint64_t>& loads) {
  for (const std::uint32_t channel : channels) {
    if (load_[channel] == loads[channel]) continue;
    load_[channel] = loads[channel];
    refresh(channel);
  }
}

void Balance::add(const std::vector<std::uint64_t>& routes) {
  for (std::uint32_t channel = 0; channel < routes.size(); ++channel) load_[channel] += routes[channel];
  for (std::uint32_t channel = 0; channel < routes.size(); ++channel) refresh(channel);
}

std::uint64_t Balance::largest_load() const {
  return load_.empty() ? 0 : *std::max_element(load_.begin(), load_.end());
}

void Balance::enter(const Choices& choices, Lid lid, Forwarding& tables) const {
  for (std::size_t i = 1; i < choices.order.size(); ++i) tables.set_out_port(choices.order[i], lid, port_[picks_[i]]);
}

std::vector<std::uint32_t> scattered_rows(const SwitchGraph& graph) {
  const std::uint64_t count = graph.rows();
  std::uint64_t stride = count * 618 / 1000;  // the golden ratio: no two near in time are near in number
  while (stride > 1 && std::gcd(stride, count) != 1) --stride;
  std::vector<std::uint32_t> rows;
  for (std::uint64_t i = 0; i < count; ++i)
    rows.push_back(static_cast<std::uint32_t>(i * std::max<std::uint64_t>(stride, 1) % count));
  return rows;
}

}  // namespace holdfast::fabric
