#include "fabric/routing/graph/choices.h"

#include <algorithm>
#include <numeric>

namespace holdfast::fabric {
namespace {

/// Rows by their hops, nearest first; those with `none` left out. Ties by row.
void sort_by_hops(const std::vector<std::uint32_t>& hops, std::vector<std::uint32_t>& order) {
  std::uint32_t longest = 0;
  for (const std::uint32_t hop : hops) {
    if (hop != none) longest = std::max(longest, hop);
  }
  std::vector<std::uint32_t> place(longest + 2, 0);
  for (const std::uint32_t hop : hops) {
    if (hop != none) ++place[hop + 1];
  }
  std::partial_sum(place.begin(), place.end(), place.begin());
  order.resize(place.back());
  for (std::uint32_t row = 0; row < hops.size(); ++row) {
    if (hops[row] != none) order[place[hops[row]]++] = row;
  }
}

std::uint32_t farthest(const std::vector<std::uint32_t>& hops) {
  std::uint32_t best = none;
  for (std::uint32_t row = 0; row < hops.size(); ++row) {
    if (hops[row] != none && (best == none || hops[row] > hops[best])) best = row;
  }
  return best;
}

/// A switch in the middle of the connected part that `start` is in.
std::uint32_t middle_of_part(const SwitchGraph& graph, std::uint32_t start) {
  const std::uint32_t one_end = farthest(hops_from(graph, {start}));
  const std::vector<std::uint32_t> from_one = hops_from(graph, {one_end});
  const std::uint32_t other_end = farthest(from_one);
  const std::vector<std::uint32_t> from_other = hops_from(graph, {other_end});
  const std::uint32_t length = from_one[other_end];
  std::uint32_t best = start;
  std::uint32_t best_reach = none;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (from_one[row] == none) continue;
    const std::uint32_t reach = std::max(from_one[row], from_other[row]);
    const bool on_path = from_one[row] + from_other[row] == length;
    if (!on_path || reach > best_reach) continue;
    if (reach < best_reach || graph.arcs_of(row).size() > graph.arcs_of(best).size()) best = row;
    best_reach = reach;
  }
  return best;
}

}  // namespace

void MinimalRule::choices_to(std::uint32_t destination, Choices& choices) {
  graph_->distances_to(destination, distance_);
  sort_by_hops(distance_, choices.order);
  choices.first.assign(1, 0);
  choices.arcs.clear();
  for (const std::uint32_t row : choices.order) {
    for (std::uint32_t id = graph_->first_arc(row); id < graph_->first_arc(row + 1); ++id) {
      if (distance_[graph_->arc(id).to] + 1 == distance_[row]) choices.arcs.push_back(id);
    }
    choices.first.push_back(static_cast<std::uint32_t>(choices.arcs.size()));
  }
}

UpDownRule::UpDownRule(const SwitchGraph& graph, const SwitchOrder& order) : order_(&order) {
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    for (const bool up : {true, false}) {
      (up ? first_up_ : first_down_).push_back(static_cast<std::uint32_t>(steps_.size()));
      for (std::uint32_t id = graph.first_arc(row); id < graph.first_arc(row + 1); ++id) {
        const std::uint32_t to = graph.arc(id).to;
        if ((order.position[to] < order.position[row]) == up) steps_.push_back({id, to});
      }
    }
  }
  first_up_.push_back(static_cast<std::uint32_t>(steps_.size()));
}

void UpDownRule::find_down_paths(std::uint32_t destination) {
  down_.assign(order_->rows.size(), none);
  queue_.assign(1, destination);
  down_[destination] = 0;
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::uint32_t row = queue_[head];
    for (const Step& step : up(row)) {
      if (down_[step.to] != none) continue;
      down_[step.to] = down_[row] + 1;
      queue_.push_back(step.to);
    }
  }
}

void UpDownRule::settle(std::uint32_t row) {
  if (goes_down_[row] == 0) {
    std::uint32_t nearest = none;
    for (const Step& step : up(row)) nearest = std::min(nearest, hops_[step.to]);
    const std::uint32_t by_up = nearest == none ? none : nearest + 1;
    if (down_[row] == none || by_up < down_[row]) {
      hops_[row] = by_up;
      return;
    }
    goes_down_[row] = 1;
  }
  hops_[row] = down_[row];
  for (const Step& step : down(row)) {
    if (down_[step.to] != none && down_[step.to] + 1 == down_[row]) goes_down_[step.to] = 1;
  }
}

void UpDownRule::choices_to(std::uint32_t destination, Choices& choices) {
  find_down_paths(destination);
  hops_.assign(order_->rows.size(), none);
  goes_down_.assign(order_->rows.size(), 0);
  goes_down_[destination] = 1;
  for (const std::uint32_t row : order_->rows) settle(row);
  sort_by_hops(hops_, choices.order);
  choices.first.assign(1, 0);
  choices.arcs.clear();
  for (const std::uint32_t row : choices.order) {
    if (goes_down_[row] != 0) {
      for (const Step& step : down(row)) {
        if (goes_down_[step.to] != 0 && hops_[step.to] + 1 == hops_[row]) choices.arcs.push_back(step.arc);
      }
    } else {
      for (const Step& step : up(row)) {
        if (hops_[step.to] != none && hops_[step.to] + 1 == hops_[row]) choices.arcs.push_back(step.arc);
      }
    }
    choices.first.push_back(static_cast<std::uint32_t>(choices.arcs.size()));
  }
}

std::vector<std::uint32_t> channels_of_rest(const SwitchGraph& graph, const Choices& choices) {
  std::vector<std::uint32_t> channels;
  if (choices.order.size() == graph.rows()) return channels;
  std::vector<std::uint8_t> joined(graph.rows(), 0);
  std::vector<std::uint32_t> queue = choices.order;
  for (const std::uint32_t row : queue) joined[row] = 1;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const SwitchGraph::Arc& arc : graph.arcs_of(queue[head])) {
      if (joined[arc.to] != 0) continue;
      joined[arc.to] = 1;
      queue.push_back(arc.to);
      channels.push_back(graph.arc(arc.reverse).first_channel);
    }
  }
  return channels;
}

std::vector<std::uint32_t> hops_from(const SwitchGraph& graph, const std::vector<std::uint32_t>& rows) {
  std::vector<std::uint32_t> hops(graph.rows(), none);
  std::vector<std::uint32_t> queue = rows;
  for (const std::uint32_t row : rows) hops[row] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const SwitchGraph::Arc& arc : graph.arcs_of(queue[head])) {
      if (hops[arc.to] != none) continue;
      hops[arc.to] = hops[queue[head]] + 1;
      queue.push_back(arc.to);
    }
  }
  return hops;
}

std::vector<std::uint32_t> levels_above_adapters(const SwitchGraph& graph) {
  std::vector<std::uint32_t> leaves;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (graph.sources_at(row) != 0) leaves.push_back(row);
  }
  return hops_from(graph, leaves);
}

SwitchOrder order_by(const SwitchGraph& graph, const std::vector<std::uint32_t>& key) {
  std::vector<std::uint32_t> from_middle(graph.rows(), none);
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (from_middle[row] != none) continue;
    const std::vector<std::uint32_t> hops = hops_from(graph, {middle_of_part(graph, row)});
    for (std::uint32_t other = 0; other < graph.rows(); ++other) {
      if (hops[other] != none) from_middle[other] = hops[other];
    }
  }
  SwitchOrder order;
  order.rows.resize(graph.rows());
  order.position.resize(graph.rows());
  std::iota(order.rows.begin(), order.rows.end(), 0U);
  std::stable_sort(order.rows.begin(), order.rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t key_a = key.empty() ? 0 : key[a];
    const std::uint32_t key_b = key.empty() ? 0 : key[b];
    return key_a != key_b ? key_a < key_b : from_middle[a] < from_middle[b];
  });
  for (std::uint32_t i = 0; i < order.rows.size(); ++i) order.position[order.rows[i]] = i;
  return order;
}

}  // namespace holdfast::fabric
