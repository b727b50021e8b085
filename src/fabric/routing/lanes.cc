#include "fabric/routing/lanes.h"

#include <algorithm>
#include <atomic>

#include "fabric/routing/parallel_for.h"

namespace holdfast::fabric {

ArcTables::ArcTables(const SwitchGraph& graph, const Forwarding& tables)
    : graph_(&graph), tables_(&tables), arc_(graph.rows() * 256U, none) {
  for (const SwitchGraph::Channel& channel : graph.channels()) {
    arc_[graph.arc(channel.arc).from * 256U + channel.port] = channel.arc;
  }
}

void ArcTables::path(std::uint32_t row, Lid lid, std::vector<std::uint32_t>& arcs) const {
  arcs.clear();
  for (std::uint32_t arc = next(row, lid); arc != none; arc = next(row, lid)) {
    arcs.push_back(arc);
    row = graph_->arc(arc).to;
  }
}

Status lanes_exhausted(std::string_view engine, unsigned needed, unsigned there) {
  return {Code::bad_input, "routing with " + std::string(engine),
          "needs " + std::to_string(needed) + " virtual lanes, " + std::to_string(there) + " are there",
          "try nue, which keeps to any number of lanes, or updn, which needs one"};
}

namespace {

/// A route is numbered source * terminals + terminal, where sources are the switches with adapters.
class LanePacker {
 public:
  LanePacker(const SwitchGraph& graph, const Forwarding& tables, unsigned threads)
      : graph_(graph), arcs_(graph, tables), space_(graph), threads_(threads), uses_(space_.size()) {
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      if (graph.sources_at(row) != 0) sources_.push_back(row);
    }
  }

  const std::vector<std::uint32_t>& sources() const { return sources_; }

  /// Whether all routes fit in one lane.
  bool acyclic_as_one() {
    parallel_for(graph_.terminals().size(), 64, threads_, [&](unsigned, std::size_t begin, std::size_t end) {
      std::vector<std::uint32_t> seen_for(graph_.rows(), none);
      for (std::size_t i = begin; i < end; ++i) mark_tree(static_cast<std::uint32_t>(i), seen_for);
    });
    return peel() == 0;
  }

  /// Packs what still has no lane into the next one. Returns how many routes are left.
  std::size_t pack_lane(std::uint8_t lane) {
    if (lane_.empty()) lane_.assign(sources_.size() * graph_.terminals().size(), unassigned);
    count_uses(unassigned);
    peel();
    AcyclicDependencies kept(space_);
    kept.start_from(order_);
    keep_heaviest(kept);
    std::vector<std::size_t> moved = split(kept, lane);
    count_uses(lane);
    drop_unused(kept);
    std::size_t left = 0;
    for (const std::size_t route : moved) {
      path(route);
      if (kept.add_path(path_)) {
        lane_[route] = lane;
      } else {
        ++left;
      }
    }
    return left;
  }

  std::uint8_t lane_of(std::size_t route) const { return lane_.empty() ? 0 : lane_[route]; }
  static constexpr std::uint8_t unassigned = 255;

 private:
  void path(std::size_t route) {
    const std::size_t terminals = graph_.terminals().size();
    arcs_.path(sources_[route / terminals], graph_.terminals()[route % terminals].lid, path_);
  }

  void mark_tree(std::uint32_t terminal, std::vector<std::uint32_t>& seen_for) {
    const Lid lid = graph_.terminals()[terminal].lid;
    for (std::uint32_t row : sources_) {
      std::uint32_t arc = arcs_.next(row, lid);
      while (arc != none && seen_for[row] != terminal) {
        seen_for[row] = terminal;
        row = graph_.arc(arc).to;
        const std::uint32_t next = arcs_.next(row, lid);
        if (next != none) std::atomic_ref(uses_[space_.id(arc, next)]).store(1, std::memory_order_relaxed);
        arc = next;
      }
    }
  }

  /// For each dependency: over all routes of this lane, how many adapters need it.
  void count_uses(std::uint8_t lane) {
    std::fill(uses_.begin(), uses_.end(), 0U);
    const std::size_t terminals = graph_.terminals().size();
    parallel_for(terminals, 256, threads_, [&](unsigned, std::size_t begin, std::size_t end) {
      for (std::size_t source = 0; source < sources_.size(); ++source) {
        for (std::size_t terminal = begin; terminal < end; ++terminal) {
          if (lane_[source * terminals + terminal] == lane)
            count_path(sources_[source], graph_.terminals()[terminal].lid);
        }
      }
    });
  }

  void count_path(std::uint32_t row, Lid lid) {
    const std::uint32_t weight = graph_.sources_at(row);
    std::uint32_t arc = arcs_.next(row, lid);
    while (arc != none) {
      const std::uint32_t next = arcs_.next(graph_.arc(arc).to, lid);
      if (next != none) std::atomic_ref(uses_[space_.id(arc, next)]).fetch_add(weight, std::memory_order_relaxed);
      arc = next;
    }
  }

  template <class Visit>
  void for_each_use(std::uint32_t arc, const Visit& visit) const {
    const std::uint32_t row = graph_.arc(arc).to;
    for (std::uint32_t next = graph_.first_arc(row); next < graph_.first_arc(row + 1); ++next) {
      if (uses_[space_.id(arc, next)] != 0) visit(next);
    }
  }
  template <class Visit>
  void for_each_user(std::uint32_t arc, const Visit& visit) const {
    for (const SwitchGraph::Arc& back : graph_.arcs_of(graph_.arc(arc).from)) {
      if (uses_[space_.id(back.reverse, arc)] != 0) visit(back.reverse);
    }
  }

  /// Takes away arcs that no other left depends on, and arcs that depend on no other left. What stays, in_core_, holds
  /// every cycle. Returns how many stay, and leaves in order_ all arcs, those peeled in a topological order.
  std::size_t peel() {
    const auto count = static_cast<std::uint32_t>(graph_.arcs().size());
    std::vector<std::uint32_t> before(count, 0);
    std::vector<std::uint32_t> after(count, 0);
    for (std::uint32_t arc = 0; arc < count; ++arc) {
      for_each_use(arc, [&](std::uint32_t next) {
        ++after[arc];
        ++before[next];
      });
    }
    in_core_.assign(count, 1);
    std::vector<std::uint32_t> front;
    std::vector<std::uint32_t> back;
    for (std::uint32_t arc = 0; arc < count; ++arc) {
      if (before[arc] == 0) take(arc, front);
    }
    for (std::size_t head = 0; head < front.size(); ++head) {
      for_each_use(front[head], [&](std::uint32_t next) {
        if (--before[next] == 0 && in_core_[next] != 0) take(next, front);
      });
    }
    for (std::uint32_t arc = 0; arc < count; ++arc) {
      if (after[arc] == 0 && in_core_[arc] != 0) take(arc, back);
    }
    for (std::size_t head = 0; head < back.size(); ++head) {
      for_each_user(back[head], [&](std::uint32_t previous) {
        if (--after[previous] == 0 && in_core_[previous] != 0) take(previous, back);
      });
    }
    order_ = front;
    for (std::uint32_t arc = 0; arc < count; ++arc) {
      if (in_core_[arc] != 0) order_.push_back(arc);
    }
    order_.insert(order_.end(), back.rbegin(), back.rend());
    return count - front.size() - back.size();
  }

  void take(std::uint32_t arc, std::vector<std::uint32_t>& list) {
    in_core_[arc] = 0;
    list.push_back(arc);
  }

  /// Dependencies outside the core all, then those inside, the most needed first.
  void keep_heaviest(AcyclicDependencies& kept) {
    struct Dependency {
      std::uint32_t a;
      std::uint32_t b;
      std::uint32_t uses;
    };
    std::vector<Dependency> core;
    for (std::uint32_t arc = 0; arc < graph_.arcs().size(); ++arc) {
      for_each_use(arc, [&](std::uint32_t next) {
        if (in_core_[arc] != 0 && in_core_[next] != 0) {
          core.push_back({arc, next, uses_[space_.id(arc, next)]});
        } else {
          kept.add(arc, next);
        }
      });
    }
    std::stable_sort(core.begin(), core.end(),
                     [](const Dependency& one, const Dependency& other) { return one.uses > other.uses; });
    for (const Dependency& dependency : core) kept.add(dependency.a, dependency.b);
  }

  /// Routes whose dependencies are all kept get the lane; returns the others.
  std::vector<std::size_t> split(const AcyclicDependencies& kept, std::uint8_t lane) {
    std::vector<std::size_t> moved;
    for (std::size_t route = 0; route < lane_.size(); ++route) {
      if (lane_[route] != unassigned) continue;
      path(route);
      bool fits = true;
      for (std::size_t i = 1; fits && i < path_.size(); ++i) fits = kept.has(path_[i - 1], path_[i]);
      if (fits) {
        lane_[route] = lane;
      } else {
        moved.push_back(route);
      }
    }
    return moved;
  }

  void drop_unused(AcyclicDependencies& kept) const {
    for (std::uint32_t arc = 0; arc < graph_.arcs().size(); ++arc) {
      const std::uint32_t row = graph_.arc(arc).to;
      for (std::uint32_t next = graph_.first_arc(row); next < graph_.first_arc(row + 1); ++next) {
        if (uses_[space_.id(arc, next)] == 0 && kept.has(arc, next)) kept.remove(arc, next);
      }
    }
    kept.forget_refusals();
  }

  const SwitchGraph& graph_;
  ArcTables arcs_;
  DependencySpace space_;
  unsigned threads_;
  std::vector<std::uint32_t> sources_;
  std::vector<std::uint32_t> uses_;  // by dependency
  std::vector<std::uint8_t> in_core_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint8_t> lane_;  // by route
  std::vector<std::uint32_t> path_;
};

}  // namespace

unsigned assign_lanes(const SwitchGraph& graph, Forwarding& tables, unsigned threads) {
  LanePacker packer(graph, tables, threads);
  tables.lanes_used = 1;
  if (packer.acyclic_as_one()) return 1;
  unsigned lanes = 0;
  while (packer.pack_lane(static_cast<std::uint8_t>(lanes++)) != 0 && lanes < LanePacker::unassigned) {
  }
  const std::size_t terminals = graph.terminals().size();
  for (std::size_t source = 0; source < packer.sources().size(); ++source) {
    for (std::size_t terminal = 0; terminal < terminals; ++terminal) {
      const std::uint8_t lane = std::min<std::uint8_t>(packer.lane_of(source * terminals + terminal), 15);
      tables.set_service_level(packer.sources()[source], 0, graph.terminals()[terminal].lid, lane);
    }
  }
  tables.lanes_used = static_cast<std::uint8_t>(lanes);
  return lanes;
}

}  // namespace holdfast::fabric
