#include <algorithm>
#include <deque>
#include <limits>
#include <span>

#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"
#include "fabric/routing/graph/acyclic_dependencies.h"

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

/// The switches farthest from adapters; none when every switch has some. A tree below one of them turns no route up
/// again that has come down.
std::vector<std::uint32_t> rows_on_top(const SwitchGraph& graph) {
  const std::vector<std::uint32_t> level = levels_above_adapters(graph);
  std::uint32_t highest = 0;
  for (const std::uint32_t one : level) highest = one == none ? highest : std::max(highest, one);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; highest != 0 && row < graph.rows(); ++row) {
    if (level[row] == highest) rows.push_back(row);
  }
  return rows;
}

/// Which dependencies of its tree are in a lane from the start. Fewer leave more to choose; more keep what is chosen
/// close to the tree, so that fewer searches end in a dead end.
enum class Tree : std::uint8_t { ways_to_destinations, all_ways };

/// One virtual lane: the dependencies in use and the tree that is always there.
class Layer {
 public:
  Layer(const SwitchGraph& graph, const DependencySpace& space, std::uint32_t root, const SwitchOrder& order,
        std::span<const std::uint32_t> destinations, Tree tree, std::uint32_t leaning)
      : graph_(graph),
        leaning_(leaning * 0xC2B2AE3DU),
        dependencies_(space),
        out_(graph.rows(), none),
        level_(graph.rows()),
        cost_(graph.rows()) {
    dependencies_.expect_up_down(order);
    grow_tree(root);
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {  // other connected parts have trees of their own
      if (tree_[row].empty()) grow_tree(row);
    }
    if (tree == Tree::all_ways) {
      for (std::uint32_t row = 0; row < graph.rows(); ++row) {
        for (const std::uint32_t in : tree_[row]) {
          for (const std::uint32_t out : tree_[row]) {
            if (in != out) dependencies_.add(graph.arc(in).reverse, out);
          }
        }
      }
      return;
    }
    for (const std::uint32_t destination : destinations) {
      follow_tree(destination);
      for (const std::uint32_t arc : out_) {
        if (arc != none && graph.arc(arc).to != destination) dependencies_.add(arc, out_[graph.arc(arc).to]);
      }
    }
  }

  /// A lane that has the dependencies of these tables' routes between adapters to the destinations, which must have no
  /// cycle, and no tree.
  Layer(const SwitchGraph& graph, const DependencySpace& space, std::span<const std::uint32_t> destinations,
        const Forwarding& tables)
      : graph_(graph),
        leaning_(0),
        dependencies_(space),
        out_(graph.rows(), none),
        level_(graph.rows()),
        cost_(graph.rows()) {
    const ArcTables arcs(graph, tables);
    std::vector<Lid> seen(graph.rows(), 0);  // by row: the last LID that a way was followed to
    for (const std::uint32_t destination : destinations) {
      for (const SwitchGraph::Terminal& terminal : graph.terminals_at(destination))
        follow_ways(arcs, terminal.lid, seen);
    }
  }

  /// The arc that each row takes to the destination, `none` where no cables lead. Where the search leaves a switch out
  /// all take those of `instead`, whose dependencies must be there; without, those along the tree.
  const std::vector<std::uint32_t>& arcs_to(std::uint32_t destination, const Balance& balance,
                                            const std::vector<std::uint32_t>* instead = nullptr) {
    added_.clear();
    const std::size_t reached = search(destination, balance);
    if (reached < part_size(destination) && !reach_by_detours(destination, reached)) {
      for (const auto& [a, b] : added_) dependencies_.remove(a, b);
      dependencies_.forget_refusals();
      ++tree_uses_;
      if (instead != nullptr) {
        out_ = *instead;
      } else {
        follow_tree(destination);
      }
    }
    return out_;
  }
  /// How many destinations had to be reached along the tree.
  std::size_t tree_uses() const { return tree_uses_; }
  /// The same along the tree: for what only management packets go to, which must not cost others their ways.
  const std::vector<std::uint32_t>& tree_to(std::uint32_t destination) {
    follow_tree(destination);
    return out_;
  }

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

  void follow_ways(const ArcTables& arcs, Lid lid, std::vector<Lid>& seen) {
    for (std::uint32_t source = 0; source < graph_.rows(); ++source) {
      if (graph_.sources_at(source) == 0) continue;
      std::uint32_t row = source;
      for (std::uint32_t arc = arcs.next(row, lid); arc != none && seen[row] != lid; arc = arcs.next(row, lid)) {
        seen[row] = lid;
        row = graph_.arc(arc).to;
        if (const std::uint32_t next = arcs.next(row, lid); next != none) dependencies_.add(arc, next);
      }
    }
  }

  bool add(std::uint32_t a, std::uint32_t b) {
    if (dependencies_.has(a, b)) return true;
    if (!dependencies_.add(a, b)) return false;
    added_.emplace_back(a, b);
    return true;
  }

  /// Backwards from the destination, all rows of one distance after another: a hop costs more than any loads, so that
  /// no queue is needed. Each row tries its arcs to the distance before, the cheapest first. Returns how many rows it
  /// reached.
  std::size_t search(std::uint32_t destination, const Balance& balance) {
    std::fill(out_.begin(), out_.end(), none);
    reached_.assign(graph_.rows(), 0);
    std::fill(level_.begin(), level_.end(), none);
    level_[destination] = 0;
    reached_[destination] = 1;
    cost_[destination] = 0;
    std::size_t count = 1;
    frontier_.assign(1, destination);
    for (std::uint32_t level = 0; !frontier_.empty(); ++level) {
      beyond_.clear();
      for (const std::uint32_t row : frontier_) {
        for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
          if (reached_[arc.to] != 0 || level_[arc.to] == level + 1) continue;
          level_[arc.to] = level + 1;  // tried, at least
          beyond_.push_back(arc.to);
        }
      }
      frontier_.clear();
      for (const std::uint32_t row : beyond_) {
        if (!join_nearest(row, level, destination, balance)) continue;
        frontier_.push_back(row);
        ++count;
      }
      for (const std::uint32_t row : frontier_) reached_[row] = 1;
    }
    return count;
  }

  bool join_nearest(std::uint32_t row, std::uint32_t level, std::uint32_t destination, const Balance& balance) {
    ways_.clear();
    for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) {
      const std::uint32_t to = graph_.arc(id).to;
      if (reached_[to] != 0 && level_[to] == level)
        ways_.push_back({(balance.cost(id) + cost_[to]) * leaning(row, id), id});
    }
    while (!ways_.empty()) {
      auto best = ways_.begin();
      for (auto way = best + 1; way != ways_.end(); ++way) {
        if (way->cost < best->cost) best = way;
      }
      const std::uint32_t id = best->arc;
      const std::uint32_t to = graph_.arc(id).to;
      if (to == destination || add(id, out_[to])) {
        out_[row] = id;
        cost_[row] = balance.cost(id) + cost_[to];
        return true;
      }
      ways_.erase(best);
    }
    return false;
  }

  /// Between 1 and 1.25: what looks nearly the same to all is taken by some each, not by all of them.
  float leaning(std::uint32_t row, std::uint32_t arc) const {
    return 1 + static_cast<float>((row * 0x9E3779B1U + arc * 0x85EBCA6BU + leaning_) >> 24) / 1024;
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
  std::uint32_t leaning_;
  AcyclicDependencies dependencies_;
  std::vector<std::vector<std::uint32_t>> tree_;  // by row: arcs out of it along the tree
  std::vector<std::uint32_t> out_;
  std::vector<std::uint8_t> reached_;
  std::vector<std::uint32_t> level_;  // by row: hops at which it was reached, or last tried
  std::vector<float> cost_;           // by row
  std::vector<std::uint32_t> frontier_;
  std::vector<std::uint32_t> beyond_;
  struct Way {
    float cost;
    std::uint32_t arc;
  };
  std::vector<Way> ways_;
  std::vector<std::uint32_t> part_;  // by row: how many switches are in its connected part
  std::vector<std::pair<std::uint32_t, std::uint32_t>> added_;
  std::size_t tree_uses_ = 0;
};

/// Two looks at every LID on larger fabrics than for other engines: what closes a cycle leaves less to pick from, so
/// that first picks are less even, and they take so long that looking again matters less.
std::uint64_t worthwhile_passes(const SwitchGraph& graph) {
  return std::max(affordable_passes(graph), std::min<std::uint64_t>(2, affordable_passes(graph, 15'000'000)));
}

class NueRouter {
 public:
  NueRouter(const Fabric& fabric, const SwitchGraph& graph, Tree tree, std::uint32_t leaning)
      : graph_(graph),
        tree_(tree),
        leaning_(leaning),
        space_(graph),
        tables_(graph.local_tables(fabric, 1)),
        balance_(graph) {}

  std::size_t tree_uses() const { return tree_uses_; }
  std::uint64_t largest_load() const { return balance_.largest_load(); }
  /// Whether each switch of a network that lies in levels spreads evenly what it sends up, and what down.
  bool is_even() const { return largest_load() <= even_load_of_levels(graph_, balance_); }

  Forwarding run(unsigned lanes) {
    const std::vector<std::uint32_t> tops = rows_on_top(graph_);
    std::vector<std::uint32_t> depths = levels_above_adapters(graph_);
    for (std::uint32_t& depth : depths) depth = none - depth;
    const std::uint64_t passes = worthwhile_passes(graph_);
    lanes = deal_destinations(lanes);
    for (const Part& part : parts_) {
      const std::uint32_t root = tops.empty() ? part.middle : tops[tops.size() * part.lane / lanes];
      const SwitchOrder order = order_by(graph_, tops.empty() ? hops_from(graph_, {root}) : depths);
      layers_.emplace_back(graph_, space_, root, order, part.served(), tree_, leaning_);
      for (const std::uint32_t row : part.rows) route_to(row, layers_.back(), part.lane);
      tree_uses_ += layers_.back().tree_uses();
      if (passes == 0) layers_.pop_back();
    }
    relieve(passes);
    return std::move(tables_);
  }

  /// Betters tables whose routes close no cycle: divides their destinations among lanes, looks at every LID again, and
  /// searches ways to it among all that close none with the others of its lane, as often as `passes` says.
  Forwarding better(Forwarding tables, unsigned lanes, std::uint64_t passes) {
    tables_ = std::move(tables);
    deal_destinations(lanes);
    const std::vector<std::uint32_t> scattered = scattered_rows(graph_);
    std::vector<std::uint32_t> turn(graph_.rows());
    for (std::uint32_t i = 0; i < scattered.size(); ++i) turn[scattered[i]] = i;
    const Relief relief(graph_, balance_, tables_);
    for (Part& part : parts_) {
      const std::span<std::uint32_t> rows(part.rows.data(), part.adapters);
      std::sort(rows.begin(), rows.end(), [&turn](std::uint32_t a, std::uint32_t b) { return turn[a] < turn[b]; });
      if (passes != 0) layers_.emplace_back(graph_, space_, rows, tables_);
      for (const std::uint32_t row : rows) {
        for (const SwitchGraph::Terminal& terminal : graph_.terminals_at(row)) {
          read_choices(relief, row, terminal.lid, picked_);
          relief.read_picks(picked_, terminal.lid, balance_.picks());
          balance_.count(picked_);
          set_lane(terminal.lid, part.lane);
        }
      }
    }
    relieve(passes);
    return std::move(tables_);
  }

 private:
  /// Destinations of one lane, near one another.
  struct Part {
    std::uint8_t lane;
    std::uint32_t middle;             // one of them
    std::vector<std::uint32_t> rows;  // those with adapters first
    std::size_t adapters;             // so many of them have some

    std::span<const std::uint32_t> served() const { return {rows.data(), adapters}; }
  };

  /// Fills parts_, with about as many adapters each, and returns how many lanes they are at most. Switches without
  /// adapters come last: only management packets go there, which must not cost others their ways.
  unsigned deal_destinations(unsigned lanes) {
    const std::vector<std::uint32_t> rows = rows_by_nearness(graph_);
    lanes = std::max(1U, std::min(lanes, static_cast<unsigned>(rows.size())));
    std::size_t begin = 0;
    std::size_t terminals = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      std::size_t end = begin;
      const std::size_t share = graph_.terminals().size() * (lane + 1) / lanes;
      for (; end < rows.size() && (terminals < share || lane + 1 == lanes); ++end)
        terminals += graph_.terminals_at(rows[end]).size();
      if (begin == end) continue;
      Part& part = parts_.emplace_back();
      part.lane = static_cast<std::uint8_t>(lane);
      part.middle = rows[(begin + end) / 2];
      part.rows.assign(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                       rows.begin() + static_cast<std::ptrdiff_t>(end));
      const auto managed = std::stable_partition(
          part.rows.begin(), part.rows.end(), [this](std::uint32_t row) { return !graph_.terminals_at(row).empty(); });
      part.adapters = static_cast<std::size_t>(managed - part.rows.begin());
      begin = end;
    }
    tables_.lanes_used = static_cast<std::uint8_t>(lanes);
    return lanes;
  }

  /// The order of the routes that the tables have to a LID of an adapter, and out_.
  void read_choices(const Relief& relief, std::uint32_t row, Lid lid, Choices& choices) {
    out_.resize(graph_.rows());
    for (std::uint32_t from = 0; from < graph_.rows(); ++from) {
      const std::uint32_t channel = from == row ? none : relief.channel_of(from, lid);
      out_[from] = channel == none ? none : graph_.channels()[channel].arc;
    }
    sort_near_first(row, out_, choices.order);
  }

  /// As relief.h does for rules; lanes keep the dependencies of ways that are taken no more.
  void relieve(std::uint64_t passes) {
    Relief relief(graph_, balance_, tables_);
    Choices before;
    bool improved = true;
    for (std::uint64_t pass = 0; pass < passes && improved; ++pass) {
      improved = false;
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        for (const std::uint32_t row : parts_[i].served()) {
          for (const SwitchGraph::Terminal& terminal : graph_.terminals_at(row)) {
            read_choices(relief, row, terminal.lid, before);
            improved |= relief.improve(before, terminal.lid, [&]() -> const Choices& {
              pick(row, layers_[i].arcs_to(row, balance_, &out_));
              balance_.count(picked_);
              return picked_;
            });
          }
        }
      }
    }
  }

  void route_to(std::uint32_t row, Layer& layer, std::uint8_t lane) {
    for (const SwitchGraph::Terminal& terminal : graph_.terminals_at(row)) {
      pick(row, layer.arcs_to(row, balance_));
      balance_.count(picked_);
      balance_.enter(picked_, terminal.lid, tables_);
      set_lane(terminal.lid, lane);
    }
    if (graph_.switch_lid(row) == 0) return;
    if (graph_.terminals_at(row).empty()) pick(row, layer.tree_to(row));
    balance_.enter(picked_, graph_.switch_lid(row), tables_);
  }

  void set_lane(Lid lid, std::uint8_t lane) {
    for (std::uint32_t source = 0; lane != 0 && source < graph_.rows(); ++source)
      tables_.set_service_level(source, 0, lid, lane);
  }

  void pick(std::uint32_t row, const std::vector<std::uint32_t>& out) {
    sort_near_first(row, out, picked_.order);
    std::vector<std::uint32_t>& picks = balance_.picks();
    picks.assign(picked_.order.size(), none);
    for (std::size_t i = 1; i < picks.size(); ++i) picks[i] = balance_.emptiest(out[picked_.order[i]]);
  }

  /// The destination, then the others, each after the one that it leads to.
  void sort_near_first(std::uint32_t destination, const std::vector<std::uint32_t>& out,
                       std::vector<std::uint32_t>& order) {
    waiting_.assign(graph_.rows(), 0);
    order.clear();
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      if (out[row] != none) ++waiting_[graph_.arc(out[row]).to];
    }
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      if (out[row] != none && waiting_[row] == 0) order.push_back(row);
    }
    for (std::size_t head = 0; head < order.size(); ++head) {
      const std::uint32_t next = graph_.arc(out[order[head]]).to;
      if (--waiting_[next] == 0 && next != destination) order.push_back(next);
    }
    order.push_back(destination);
    std::reverse(order.begin(), order.end());
  }

  const SwitchGraph& graph_;
  Tree tree_;
  std::uint32_t leaning_;
  DependencySpace space_;
  Forwarding tables_;
  Balance balance_;
  Choices picked_;  // the order alone
  std::deque<Layer> layers_;
  std::size_t tree_uses_ = 0;
  std::vector<Part> parts_;         // by layer
  std::vector<std::uint32_t> out_;  // by row: the arc that its table has
  std::vector<std::uint32_t> waiting_;
};

/// The tables whose fullest link carries least, the first of such.
struct Evenest {
  Forwarding tables;
  std::uint64_t fullest = std::numeric_limits<std::uint64_t>::max();
  bool even = false;  ///< as NueRouter says

  bool found() const { return fullest != std::numeric_limits<std::uint64_t>::max(); }
  void offer(const NueRouter& router, Forwarding other) {
    if (router.largest_load() >= fullest) return;
    tables = std::move(other);
    fullest = router.largest_load();
    even = router.is_even();
  }
};

}  // namespace

Result<Forwarding> route_nue(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  const std::uint64_t passes = worthwhile_passes(graph);
  const bool large = passes == 0;
  const bool levels = lies_in_levels(graph);
  // Paths up and then down are one of the largest sets of dependencies without a cycle, and on trees or in one lane
  // often the evenest that is found; on larger trees the search from nothing only takes longer.
  std::vector<Result<Forwarding>> up_down;
  if (levels) up_down.push_back(route_ftree(fabric, graph, options));
  if (levels || (options.lanes == 1 && !large)) up_down.push_back(route_updn(fabric, graph, options));
  const auto better = [&](std::uint64_t looks, Evenest& best) {
    for (const Result<Forwarding>& start : up_down) {
      if (!start.ok()) continue;
      NueRouter router(fabric, graph, Tree::all_ways, 0);
      Forwarding tables = router.better(start.value(), options.lanes, looks);
      best.offer(router, std::move(tables));
    }
  };
  Evenest dealt;
  if (levels) better(0, dealt);
  if (dealt.even) return std::move(dealt.tables);

  Evenest best;
  bool dead_ends = false;
  const auto attempt = [&](Tree tree, std::uint32_t leaning) {
    NueRouter router(fabric, graph, tree, leaning);
    Forwarding tables = router.run(options.lanes);
    dead_ends = dead_ends || router.tree_uses() != 0;
    best.offer(router, std::move(tables));
  };
  // What is taken first forbids much of the rest, so that small networks are routed in several ways.
  const bool small = affordable_passes(graph) != 0;
  if (small || !dealt.found()) {
    attempt(Tree::ways_to_destinations, 0);
    if (dead_ends || small) attempt(Tree::all_ways, 0);
  }
  for (std::uint32_t leaning = 1; small && leaning <= 2; ++leaning) {
    attempt(Tree::ways_to_destinations, leaning);
    attempt(Tree::all_ways, leaning);
  }
  if (!large) better(passes, best);  // by ways that turn elsewhere
  return std::move(dealt.fullest < best.fullest ? dealt.tables : best.tables);
}

}  // namespace holdfast::fabric
