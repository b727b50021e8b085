#include <algorithm>
#include <queue>

#include "fabric/routing/acyclic_dependencies.h"
#include "fabric/routing/balance.h"
#include "fabric/routing/native_engines.h"

// J. Domke, T. Hoefler, S. Matsuoka, "Routing on the Dependency Graph: A New Approach to Deadlock-Free High-Performance
// Routing", HPDC 2016. Destinations are divided among the lanes; in each lane, paths are searched backwards from each
// destination, taking a step only if the channel dependency that it makes closes no cycle with those of the lane so
// far. A spanning tree's dependencies are in every lane from the start: where the search cannot reach all switches, the
// destination is reached along that tree.

namespace holdfast::fabric {
namespace {

/// Rows by breadth-first search, so that neighbours in the list are near.
std::vector<std::uint32_t> rows_by_nearness(const SwitchGraph& graph) {
  std::vector<std::uint32_t> rows;
  std::vector<bool> seen(graph.rows(), false);
  for (std::uint32_t start = 0; start < graph.rows(); ++start) {
    if (seen[start]) continue;
    seen[start] = true;
    rows.push_back(start);
    for (std::size_t head = rows.size() - 1; head < rows.size(); ++head) {
      for (const SwitchGraph::Arc& arc : graph.arcs_of(rows[head])) {
        if (seen[arc.to]) continue;
        seen[arc.to] = true;
        rows.push_back(arc.to);
      }
    }
  }
  return rows;
}

/// One virtual lane: the dependencies in use and the tree that is always there.
class Layer {
 public:
  Layer(const SwitchGraph& graph, const DependencySpace& space, std::uint32_t root)
      : graph_(graph), dependencies_(space), out_(graph.rows(), none) {
    grow_tree(root);
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {  // other connected parts have trees of their own
      if (tree_[row].empty()) grow_tree(row);
    }
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      for (const std::uint32_t in : tree_[row]) {
        for (const std::uint32_t out : tree_[row]) {
          if (in != out) dependencies_.add(graph.arc(in).reverse, out);
        }
      }
    }
  }

  /// The arc that each row takes to the destination, `none` where no cables lead. Costs are by arc.
  const std::vector<std::uint32_t>& arcs_to(std::uint32_t destination, const std::vector<std::uint64_t>& cost) {
    added_.clear();
    const std::size_t reached = search(destination, cost);
    if (reached < part_size(destination) && !reach_by_detours(destination, reached)) {
      for (const auto& [a, b] : added_) dependencies_.remove(a, b);
      dependencies_.forget_refusals();
      follow_tree(destination);
      ++tree_uses_;
    }
    return out_;
  }
  std::size_t tree_uses() const { return tree_uses_; }

 private:
  void grow_tree(std::uint32_t root) {
    if (tree_.empty()) tree_.resize(graph_.rows());
    std::vector<bool> seen(graph_.rows(), false);
    std::vector<std::uint32_t> queue = {root};
    seen[root] = true;
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const std::uint32_t row = queue[head];
      for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) {
        const SwitchGraph::Arc& arc = graph_.arc(id);
        if (seen[arc.to]) continue;
        seen[arc.to] = true;
        queue.push_back(arc.to);
        tree_[row].push_back(id);
        tree_[arc.to].push_back(arc.reverse);
      }
    }
  }

  bool add(std::uint32_t a, std::uint32_t b) {
    if (dependencies_.has(a, b)) return true;
    if (!dependencies_.add(a, b)) return false;
    added_.emplace_back(a, b);
    return true;
  }

  /// Dijkstra backwards; returns how many rows it reached.
  std::size_t search(std::uint32_t destination, const std::vector<std::uint64_t>& cost) {
    using Step = std::pair<std::uint64_t, std::uint32_t>;  // cost so far, arc
    std::priority_queue<Step, std::vector<Step>, std::greater<>> open;
    std::fill(out_.begin(), out_.end(), none);
    reached_.assign(graph_.rows(), 0);
    const auto settle = [&](std::uint32_t row, std::uint64_t so_far) {
      reached_[row] = 1;
      for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
        if (reached_[arc.to] == 0) open.emplace(so_far + cost[arc.reverse], arc.reverse);
      }
    };
    settle(destination, 0);
    std::size_t count = 1;
    while (!open.empty()) {
      const auto [so_far, id] = open.top();
      open.pop();
      const SwitchGraph::Arc& arc = graph_.arc(id);
      if (reached_[arc.from] != 0) continue;
      if (arc.to != destination && !add(id, out_[arc.to])) continue;
      out_[arc.from] = id;
      ++count;
      settle(arc.from, so_far);
    }
    return count;
  }

  std::size_t part_size(std::uint32_t destination) {
    if (part_.empty()) {
      part_.assign(graph_.rows(), none);
      for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
        if (part_[row] != none) continue;
        const std::vector<std::uint32_t> hops = hops_from(graph_, {row});
        const auto size = static_cast<std::uint32_t>(graph_.rows() - std::count(hops.begin(), hops.end(), none));
        for (std::uint32_t other = 0; other < graph_.rows(); ++other) {
          if (hops[other] != none) part_[other] = size;
        }
      }
    }
    return part_[destination];
  }

  /// Section 4.6 of the paper, one step of backtracking: a switch next to one that was not reached takes another way
  /// itself, if that and those that come through it allow it.
  bool reach_by_detours(std::uint32_t destination, std::size_t reached) {
    bool progress = true;
    while (progress && reached < part_size(destination)) {
      progress = false;
      for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
        if (reached_[row] != 0 || !join(row, destination)) continue;
        reached_[row] = 1;
        ++reached;
        progress = true;
      }
    }
    return reached == part_size(destination);
  }

  bool join(std::uint32_t row, std::uint32_t destination) {
    for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) {
      const std::uint32_t by = graph_.arc(id).to;
      if (reached_[by] == 0) continue;
      if (by == destination || add(id, out_[by])) {
        out_[row] = id;
        return true;
      }
    }
    for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) {
      const std::uint32_t by = graph_.arc(id).to;
      if (reached_[by] == 0 || by == destination) continue;
      for (std::uint32_t way = graph_.first_arc(by); way < graph_.first_arc(by + 1); ++way) {
        if (way == out_[by] || reached_[graph_.arc(way).to] == 0 || !turn(by, way, id, destination)) continue;
        out_[by] = way;
        out_[row] = id;
        return true;
      }
    }
    return false;
  }

  /// Whether `by` may take `way` instead, with `joining` coming through it; adds the dependencies if so.
  bool turn(std::uint32_t by, std::uint32_t way, std::uint32_t joining, std::uint32_t destination) {
    for (std::uint32_t at = graph_.arc(way).to; at != destination; at = graph_.arc(out_[at]).to) {
      if (at == by) return false;
    }
    const std::size_t mark = added_.size();
    const std::uint32_t next = graph_.arc(way).to;
    bool fits = next == destination || add(way, out_[next]);
    fits = fits && add(joining, way);
    for (const SwitchGraph::Arc& arc : graph_.arcs_of(by)) {
      if (fits && out_[arc.to] == arc.reverse && arc.to != destination) fits = add(arc.reverse, way);
    }
    if (fits) return true;
    for (; added_.size() > mark; added_.pop_back()) dependencies_.remove(added_.back().first, added_.back().second);
    return false;
  }

  void follow_tree(std::uint32_t destination) {
    std::fill(out_.begin(), out_.end(), none);
    std::vector<std::uint32_t> queue = {destination};
    for (std::size_t head = 0; head < queue.size(); ++head) {
      for (const std::uint32_t id : tree_[queue[head]]) {
        const SwitchGraph::Arc& arc = graph_.arc(id);
        if (arc.to == destination || out_[arc.to] != none) continue;
        out_[arc.to] = arc.reverse;
        queue.push_back(arc.to);
      }
    }
  }

  const SwitchGraph& graph_;
  AcyclicDependencies dependencies_;
  std::vector<std::vector<std::uint32_t>> tree_;  // by row: arcs out of it along the tree
  std::vector<std::uint32_t> out_;
  std::vector<std::uint8_t> reached_;
  std::vector<std::uint32_t> part_;  // by row: how many switches are in its connected part
  std::vector<std::pair<std::uint32_t, std::uint32_t>> added_;
  std::size_t tree_uses_ = 0;
};

class NueRouter {
 public:
  NueRouter(const Fabric& fabric, const SwitchGraph& graph)
      : graph_(graph),
        space_(graph),
        tables_(graph.local_tables(fabric)),
        load_(graph.channels().size()),
        cost_(graph.arcs().size()),
        through_(graph.rows()) {
    hop_cost_ = std::uint64_t{graph.source_count()} * graph.terminals().size() + 1;
  }

  Forwarding run(unsigned lanes) {
    const std::vector<std::uint32_t> rows = rows_by_nearness(graph_);
    lanes = std::max(1U, std::min(lanes, static_cast<unsigned>(rows.size())));
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const std::size_t begin = rows.size() * lane / lanes;
      const std::size_t end = rows.size() * (lane + 1) / lanes;
      Layer layer(graph_, space_, rows[(begin + end) / 2]);
      for (std::size_t i = begin; i < end; ++i) route_to(rows[i], layer, static_cast<std::uint8_t>(lane));
    }
    tables_.lanes_used = static_cast<std::uint8_t>(lanes);
    return std::move(tables_);
  }

 private:
  void route_to(std::uint32_t row, Layer& layer, std::uint8_t lane) {
    const auto terminals = graph_.terminals_at(row);
    for (const SwitchGraph::Terminal& terminal : terminals) {
      route_lid(row, terminal.lid, true, layer);
      for (std::uint32_t source = 0; lane != 0 && source < graph_.rows(); ++source) {
        tables_.set_service_level(source, 0, terminal.lid, lane);
      }
    }
    if (graph_.switch_lid(row) != 0) route_lid(row, graph_.switch_lid(row), false, layer);
  }

  void route_lid(std::uint32_t row, Lid lid, bool counts, Layer& layer) {
    for (std::uint32_t id = 0; id < cost_.size(); ++id) cost_[id] = hop_cost_ + load_[least_loaded(graph_.arc(id))];
    const std::vector<std::uint32_t>& out = layer.arcs_to(row, cost_);
    sort_far_first(row, out);
    for (const std::uint32_t at : far_first_) through_[at] = graph_.sources_at(at);
    for (const std::uint32_t at : far_first_) {
      const SwitchGraph::Arc& arc = graph_.arc(out[at]);
      const std::uint32_t channel = least_loaded(arc);
      tables_.set_out_port(at, lid, graph_.channels()[channel].port);
      if (!counts) continue;
      load_[channel] += through_[at];
      if (arc.to != row) through_[arc.to] += through_[at];
    }
  }

  std::uint32_t least_loaded(const SwitchGraph::Arc& arc) const {
    std::uint32_t best = arc.first_channel;
    for (std::uint32_t i = 1; i < arc.channels; ++i) {
      if (load_[arc.first_channel + i] < load_[best]) best = arc.first_channel + i;
    }
    return best;
  }

  /// Rows other than the destination, each before the one that it leads to.
  void sort_far_first(std::uint32_t destination, const std::vector<std::uint32_t>& out) {
    std::vector<std::uint32_t> waiting(graph_.rows(), 0);
    far_first_.clear();
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      if (out[row] != none) ++waiting[graph_.arc(out[row]).to];
    }
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      if (out[row] != none && waiting[row] == 0) far_first_.push_back(row);
    }
    for (std::size_t head = 0; head < far_first_.size(); ++head) {
      const std::uint32_t next = graph_.arc(out[far_first_[head]]).to;
      if (--waiting[next] == 0 && next != destination) far_first_.push_back(next);
    }
  }

  const SwitchGraph& graph_;
  DependencySpace space_;
  Forwarding tables_;
  std::uint64_t hop_cost_ = 1;
  std::vector<std::uint64_t> load_;  // by channel
  std::vector<std::uint64_t> cost_;  // by arc
  std::vector<std::uint32_t> through_;
  std::vector<std::uint32_t> far_first_;
};

}  // namespace

Result<Forwarding> route_nue(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  return NueRouter(fabric, graph).run(options.lanes);
}

}  // namespace holdfast::fabric
