#include "fabric/check/bisection.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fabric/check/cabling.h"

namespace holdfast::fabric {
namespace {

/// Switches with their neighbours, parallel cables apart.
struct Graph {
  std::vector<std::vector<std::uint32_t>> next;
  std::vector<std::uint32_t> hosts;
  std::uint64_t host_count = 0;

  explicit Graph(const Cabling& cabling) : next(cabling.rows()), hosts(cabling.rows()) {
    for (std::uint32_t channel = 0; channel < cabling.channels(); ++channel) {
      const std::uint32_t row = channel / cabling.stride();
      const std::uint32_t to = cabling.next_row(channel);
      if (to != none && to != row) next[row].push_back(to);
    }
    for (std::uint32_t row = 0; row < cabling.rows(); ++row) {
      hosts[row] = static_cast<std::uint32_t>(cabling.endpoints_at(row).size());
      host_count += hosts[row];
    }
  }
  std::size_t size() const { return next.size(); }
};

/// A division of the switches, and what it costs to make it a bisection of the adapters.
class Cut {
 public:
  Cut(const Graph& graph, const std::vector<std::uint32_t>& order) : graph_(graph), left_(graph.size(), 0) {
    for (const std::uint32_t row : order) {
      if (2 * (left_hosts_ + graph.hosts[row] / 2) >= graph.host_count) break;
      left_[row] = 1;
      left_hosts_ += graph.hosts[row];
    }
    for (std::uint32_t row = 0; row < graph.size(); ++row) {
      for (const std::uint32_t to : graph.next[row]) crossing_ += row < to && left_[row] != left_[to] ? 1 : 0;
    }
  }

  std::uint64_t cost() const { return cost_of(crossing_, left_hosts_); }

  /// Moves single switches as long as one helps.
  void improve() {
    for (bool better = true; better;) {
      better = false;
      for (std::uint32_t row = 0; row < graph_.size(); ++row) better = try_to_move(row) || better;
    }
  }

 private:
  std::uint64_t cost_of(std::uint64_t crossing, std::uint64_t left_hosts) const {
    const std::uint64_t right_hosts = graph_.host_count - left_hosts;
    return crossing + (std::max(left_hosts, right_hosts) - std::min(left_hosts, right_hosts)) / 2;
  }

  bool try_to_move(std::uint32_t row) {
    std::uint64_t crossing = crossing_;
    for (const std::uint32_t to : graph_.next[row]) crossing += left_[row] == left_[to] ? 1ULL : ~0ULL;
    const std::uint64_t hosts = left_[row] != 0 ? left_hosts_ - graph_.hosts[row] : left_hosts_ + graph_.hosts[row];
    if (cost_of(crossing, hosts) >= cost()) return false;
    left_[row] = left_[row] != 0 ? 0 : 1;
    crossing_ = crossing;
    left_hosts_ = hosts;
    return true;
  }

  const Graph& graph_;
  std::vector<std::uint8_t> left_;
  std::uint64_t left_hosts_ = 0;
  std::uint64_t crossing_ = 0;
};

/// Rows by an approximation of the Fiedler vector: power iteration on (2 * largest degree - Laplacian), without the
/// constant vector.
std::vector<std::uint32_t> spectral_order(const Graph& graph) {
  const auto size = static_cast<double>(graph.size());
  std::size_t degree = 0;
  for (const auto& next : graph.next) degree = std::max(degree, next.size());
  std::vector<double> value(graph.size());
  for (std::size_t row = 0; row < graph.size(); ++row) value[row] = std::sin(1.0 + 7.0 * static_cast<double>(row));
  std::vector<double> fresh(graph.size());
  for (unsigned round = 0; round < 300; ++round) {
    const double mean = std::accumulate(value.begin(), value.end(), 0.0) / size;
    double norm = 0;
    for (double& one : value) {
      one -= mean;
      norm += one * one;
    }
    if (norm == 0) break;
    for (double& one : value) one /= std::sqrt(norm);
    for (std::size_t row = 0; row < graph.size(); ++row) {
      double sum = (2.0 * static_cast<double>(degree) - static_cast<double>(graph.next[row].size())) * value[row];
      for (const std::uint32_t to : graph.next[row]) sum += value[to];
      fresh[row] = sum;
    }
    value.swap(fresh);
  }
  std::vector<std::uint32_t> order(graph.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return value[a] < value[b]; });
  return order;
}

std::vector<std::uint32_t> breadth_first_order(const Graph& graph, std::uint32_t start) {
  std::vector<std::uint32_t> order = {start};
  std::vector<bool> seen(graph.size(), false);
  seen[start] = true;
  for (std::size_t head = 0; order.size() < graph.size(); ++head) {
    if (head == order.size()) {  // another connected part
      const auto rest = std::find(seen.begin(), seen.end(), false);
      order.push_back(static_cast<std::uint32_t>(rest - seen.begin()));
      *rest = true;
    }
    for (const std::uint32_t to : graph.next[order[head]]) {
      if (seen[to]) continue;
      seen[to] = true;
      order.push_back(to);
    }
  }
  return order;
}

std::uint64_t best_cut(const Graph& graph) {
  std::vector<std::vector<std::uint32_t>> orders = {spectral_order(graph)};
  orders.push_back(breadth_first_order(graph, orders[0].front()));
  orders.push_back(breadth_first_order(graph, static_cast<std::uint32_t>(graph.size() / 2)));
  orders.push_back(orders[0]);
  std::sort(orders.back().begin(), orders.back().end());
  std::uint64_t best = graph.host_count / 2;  // cutting off half of the adapters by their own cables
  for (const auto& order : orders) {
    Cut cut(graph, order);
    cut.improve();
    best = std::min(best, cut.cost());
  }
  return best;
}

/// The fullest channel when all adapters send to all others along all shortest paths evenly; infinite in a network of
/// parts.
double fullest_channel(const Graph& graph, const Cabling& cabling) {
  std::vector<std::uint32_t> hops(graph.size());
  std::vector<std::uint32_t> order;
  std::vector<double> through(graph.size());
  std::vector<double> load(cabling.channels(), 0);
  for (std::uint32_t home = 0; home < graph.size(); ++home) {
    if (graph.hosts[home] == 0) continue;
    std::fill(hops.begin(), hops.end(), none);
    order.assign(1, home);
    hops[home] = 0;
    for (std::size_t head = 0; head < order.size(); ++head) {
      for (const std::uint32_t to : graph.next[order[head]]) {
        if (hops[to] != none) continue;
        hops[to] = hops[order[head]] + 1;
        order.push_back(to);
      }
    }
    for (std::uint32_t row = 0; row < graph.size(); ++row) {
      if (hops[row] == none && graph.hosts[row] != 0) return INFINITY;
      through[row] = static_cast<double>(graph.hosts[row]) * graph.hosts[home];
    }
    for (auto row = order.rbegin(); row != order.rend() - 1; ++row) {
      const std::uint32_t first = *row * cabling.stride();
      unsigned ways = 0;
      for (const std::uint32_t to : graph.next[*row]) ways += hops[to] + 1 == hops[*row] ? 1 : 0;
      const double share = through[*row] / ways;
      for (std::uint32_t channel = first; channel < first + cabling.stride(); ++channel) {
        const std::uint32_t to = cabling.next_row(channel);
        if (to == none || to == *row || hops[to] + 1 != hops[*row]) continue;
        load[channel] += share;
        through[to] += share;
      }
    }
  }
  const double own_cable = static_cast<double>(graph.host_count) - 1;
  return std::max(own_cable, *std::max_element(load.begin(), load.end()));
}

}  // namespace

Bisection bound_bisection(const Fabric& fabric) {
  const Cabling cabling(fabric);
  const Graph graph(cabling);
  Bisection bisection;
  bisection.adapters = graph.host_count;
  if (graph.host_count < 2) return bisection;
  bisection.upper = best_cut(graph);
  const auto half = static_cast<double>(graph.host_count / 2);
  const double across = half * (static_cast<double>(graph.host_count) - half);
  // a rounding error in the sums must not raise the bound
  bisection.lower = static_cast<std::uint64_t>(std::ceil(across / fullest_channel(graph, cabling) - 1e-6));
  bisection.lower = std::min(bisection.lower, bisection.upper);
  return bisection;
}

}  // namespace holdfast::fabric
