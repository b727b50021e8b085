#include "fabric/routing/engines/up_down_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/parallel/parallel_for.h"
#include "core/random/stream.h"
#include "fabric/routing/engines/balance.h"

namespace holdfast::fabric {
namespace {

constexpr std::uint32_t every_destination = 128;  // up to so many switches; an even sample of larger networks
constexpr std::uint32_t sampled_destinations = 48;

std::uint32_t judged_destinations(const SwitchGraph& graph) {
  return graph.rows() <= every_destination ? graph.rows() : sampled_destinations;
}

/// How many orders may be judged for looking at so many arcs.
std::uint64_t affordable_orders(const SwitchGraph& graph, std::uint64_t looks) {
  return looks / std::max<std::uint64_t>(1, std::uint64_t{judged_destinations(graph)} * graph.arcs().size());
}

SwitchOrder order_of(std::vector<std::uint32_t> rows) {
  SwitchOrder order;
  order.position.resize(rows.size());
  for (std::uint32_t at = 0; at < rows.size(); ++at) order.position[rows[at]] = at;
  order.rows = std::move(rows);
  return order;
}

/// Loads of arcs under greedy picks, a destination after the other.
class ArcLoads {
 public:
  explicit ArcLoads(const SwitchGraph& graph)
      : graph_(graph),
        load_(graph.arcs().size()),
        price_(graph.arcs().size()),
        cost_(graph.rows()),
        through_(graph.rows()),
        pick_(graph.rows()) {}

  void add(const Choices& choices) {
    const std::uint32_t destination = choices.order[0];
    cost_[destination] = 0;
    for (std::size_t i = 1; i < choices.order.size(); ++i) pick(choices, i);
    for (const std::uint32_t row : choices.order)
      through_[row] =
          static_cast<double>(graph_.sources_at(row)) * static_cast<double>(graph_.terminals_at(destination).size());
    for (std::size_t i = choices.order.size(); i-- > 1;) {
      const std::uint32_t row = choices.order[i];
      const std::uint32_t id = pick_[row];
      load_[id] += through_[row] / graph_.arc(id).channels;
      price_[id] = load_[id] * load_[id];
      through_[graph_.arc(id).to] += through_[row];
    }
  }

  double sum_of_sixth_powers() const {
    double sum = 0;
    for (const double price : price_) sum += price * price * price;
    return sum;
  }

 private:
  void pick(const Choices& choices, std::size_t position) {
    const std::uint32_t row = choices.order[position];
    cost_[row] = std::numeric_limits<double>::infinity();
    for (std::uint32_t at = choices.first[position]; at < choices.first[position + 1]; ++at) {
      const std::uint32_t id = choices.arcs[at];
      const double cost = price_[id] + cost_[graph_.arc(id).to];
      if (cost >= cost_[row]) continue;
      cost_[row] = cost;
      pick_[row] = id;
    }
  }

  const SwitchGraph& graph_;
  std::vector<double> load_;   // by arc, a cable
  std::vector<double> price_;  // by arc: its square
  std::vector<double> cost_;   // by row, for the destination at hand
  std::vector<double> through_;
  std::vector<std::uint32_t> pick_;
};

/// How many switches have none above them.
std::uint32_t tops_of(const SwitchGraph& graph, const SwitchOrder& order) {
  std::uint32_t tops = 0;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    const auto arcs = graph.arcs_of(row);
    if (std::none_of(arcs.begin(), arcs.end(),
                     [&](const auto& arc) { return order.position[arc.to] < order.position[row]; }))
      ++tops;
  }
  return tops;
}

/// The cost of an order, or a part of it that is above `least` already: loads only grow with destinations.
double cost_unless_above(const SwitchGraph& graph, const SwitchOrder& order, double least) {
  constexpr std::uint32_t between_looks = 8;  // destinations: a look costs about as much as one of them
  UpDownRule rule(graph, order);
  ArcLoads loads(graph);
  Choices choices;
  const double longest = longest_way_up(graph, order);
  const std::uint32_t count = judged_destinations(graph);
  const std::vector<std::uint32_t> rows = scattered_rows(graph);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i % between_looks == between_looks - 1) {
      const double part = loads.sum_of_sixth_powers() * longest * longest;
      if (part > least) return part;
    }
    if (graph.terminals_at(rows[i]).empty()) continue;
    rule.choices_to(rows[i], choices);
    loads.add(choices);
  }
  return loads.sum_of_sixth_powers() * longest * longest;
}

/// The same draws for each graph.
random::Stream draws() {
  return random::Stream(1).child("places in an up and down order");
}

SwitchOrder cheapest_drawn(const SwitchGraph& graph) {
  constexpr std::uint64_t looks = 10'000'000;
  SwitchOrder best = order_by(graph, {});
  double least = up_down_cost(graph, best);
  const auto roots = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(affordable_orders(graph, looks) / 2, 2, std::max(2U, graph.rows())));
  for (std::uint32_t i = 0; i < std::min(roots, graph.rows()); ++i) {
    const auto root = static_cast<std::uint32_t>(std::uint64_t{i} * graph.rows() / roots);
    for (SwitchOrder order : {order_by(graph, hops_from(graph, {root})), depth_first_order(graph, root)}) {
      const double cost = cost_unless_above(graph, order, least);
      if (cost >= least) continue;
      least = cost;
      best = std::move(order);
    }
  }
  return best;
}

/// Breadth-first from a switch that is drawn; which of those equally far comes first is drawn, too.
SwitchOrder breadth_first_by_lot(const SwitchGraph& graph, random::Stream& draw) {
  std::vector<std::uint32_t> lots(graph.rows());
  std::iota(lots.begin(), lots.end(), 0);
  for (std::size_t left = lots.size(); left > 1; --left) std::swap(lots[left - 1], lots[draw.below(left)]);
  std::vector<std::uint32_t> key = hops_from(graph, {static_cast<std::uint32_t>(draw.below(graph.rows()))});
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (key[row] != none) key[row] = key[row] * graph.rows() + lots[row];
  }
  return order_by(graph, key);
}

/// Moves one switch at a time to a place that is drawn, so many times, where that costs no more and makes no more tops.
SwitchOrder searched_from(const SwitchGraph& graph, SwitchOrder best, std::uint64_t moves, random::Stream draw) {
  double least = up_down_cost(graph, best);
  const std::uint32_t tops = tops_of(graph, best);
  for (; moves > 0; --moves) {
    std::vector<std::uint32_t> rows = best.rows;
    const auto from = rows.begin() + static_cast<std::ptrdiff_t>(draw.below(rows.size()));
    const auto to = rows.begin() + static_cast<std::ptrdiff_t>(draw.below(rows.size()));
    if (from < to) {
      std::rotate(from, from + 1, to + 1);
    } else {
      std::rotate(to, from, from + 1);
    }
    SwitchOrder order = order_of(std::move(rows));
    if (tops_of(graph, order) > tops) continue;
    const double cost = cost_unless_above(graph, order, least);
    if (cost > least) continue;
    least = cost;
    best = std::move(order);
  }
  return best;
}

}  // namespace

SwitchOrder depth_first_order(const SwitchGraph& graph, std::uint32_t root) {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint8_t> seen(graph.rows(), 0);
  std::vector<std::uint32_t> cables(graph.rows(), 0);  // to switches in the order
  std::vector<std::uint32_t> way;
  const auto visit = [&](std::uint32_t row) {
    seen[row] = 1;
    rows.push_back(row);
    way.push_back(row);
    for (const SwitchGraph::Arc& arc : graph.arcs_of(row)) cables[arc.to] += arc.channels;
  };
  const auto next_of = [&](std::uint32_t row) {
    std::uint32_t next = none;
    for (const SwitchGraph::Arc& arc : graph.arcs_of(row)) {
      if (seen[arc.to] == 0 && (next == none || cables[arc.to] > cables[next])) next = arc.to;
    }
    return next;
  };
  for (std::uint32_t i = 0; i < graph.rows(); ++i) {
    const std::uint32_t start = (root + i) % graph.rows();
    if (seen[start] != 0) continue;
    visit(start);
    while (!way.empty()) {
      const std::uint32_t next = next_of(way.back());
      if (next == none) {
        way.pop_back();
      } else {
        visit(next);
      }
    }
  }
  return order_of(std::move(rows));
}

std::uint32_t longest_way_up(const SwitchGraph& graph, const SwitchOrder& order) {
  std::vector<std::uint32_t> way(graph.rows(), 0);
  std::uint32_t longest = 0;
  for (const std::uint32_t row : order.rows) {
    for (const SwitchGraph::Arc& arc : graph.arcs_of(row)) {
      if (order.position[arc.to] < order.position[row]) way[row] = std::max(way[row], way[arc.to] + 1);
    }
    longest = std::max(longest, way[row]);
  }
  return longest;
}

double up_down_cost(const SwitchGraph& graph, const SwitchOrder& order) {
  return cost_unless_above(graph, order, std::numeric_limits<double>::infinity());
}

double up_down_cost(const SwitchGraph& graph, const SwitchOrder& order, const std::vector<std::uint64_t>& loads) {
  double sum = 0;
  for (const std::uint64_t load : loads) sum += std::pow(static_cast<double>(load), 6);
  return sum * std::pow(longest_way_up(graph, order), 2);
}

UpDownOrders search_up_down_orders(const SwitchGraph& graph) {
  constexpr std::uint64_t looks = 8'000'000;
  constexpr std::uint64_t enough = 1000;
  UpDownOrders orders;
  orders.drawn = cheapest_drawn(graph);
  orders.searched = searched_from(graph, orders.drawn, std::min(enough, affordable_orders(graph, looks)), draws());
  return orders;
}

std::vector<SwitchOrder> further_up_down_orders(const SwitchGraph& graph, unsigned threads) {
  constexpr std::uint64_t looks = 64'000'000;
  constexpr std::uint64_t enough = 12;
  constexpr std::uint64_t moves = 300;  // each; more find less than another start
  std::vector<SwitchOrder> orders(std::min(enough, affordable_orders(graph, looks) / moves));
  parallel::parallel_for(orders.size(), 1, threads, [&](unsigned /*worker*/, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      random::Stream draw = draws().child("start").child(i);
      const SwitchOrder start = breadth_first_by_lot(graph, draw);
      orders[i] = searched_from(graph, start, moves, draw);
    }
  });
  return orders;
}

}  // namespace holdfast::fabric
