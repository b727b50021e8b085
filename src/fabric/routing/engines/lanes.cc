#include "fabric/routing/engines/lanes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <limits>

#include "core/parallel/parallel_for.h"
#include "fabric/tables/columns.h"

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

/// Marks every dependency of every route.
void mark_dependencies(const SwitchGraph& graph, const Forwarding& tables, const DependencySpace& space,
                       unsigned threads, std::vector<std::uint8_t>& marks) {
  const ArcTables arcs(graph, tables);
  parallel::parallel_for(graph.terminals().size(), 64, threads, [&](unsigned, std::size_t begin, std::size_t end) {
    std::vector<std::size_t> seen_for(graph.rows(), end);
    Columns columns(tables);
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint8_t* out = columns.of(graph.terminals()[i].lid);
      for (std::uint32_t source = 0; source < graph.rows(); ++source) {
        if (graph.sources_at(source) == 0) continue;
        std::uint32_t row = source;
        std::uint32_t arc = arcs.by_port(row, out[row]);
        while (arc != none && seen_for[row] != i) {
          seen_for[row] = i;
          row = graph.arc(arc).to;
          const std::uint32_t next = arcs.by_port(row, out[row]);
          if (next != none) std::atomic_ref(marks[space.id(arc, next)]).store(1, std::memory_order_relaxed);
          arc = next;
        }
      }
    }
  });
}

}  // namespace

unsigned first_lane_for(const DependencySpace& space, const std::vector<std::uint32_t>& path,
                        std::deque<AcyclicDependencies>& lanes) {
  for (unsigned lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane].add_path(path)) return lane;
  }
  lanes.emplace_back(space);
  lanes.back().add_path(path);
  return static_cast<unsigned>(lanes.size() - 1);
}

bool is_acyclic(const SwitchGraph& graph, const Forwarding& tables, unsigned threads) {
  const DependencySpace space(graph);
  std::vector<std::uint8_t> marks(space.size(), 0);
  mark_dependencies(graph, tables, space, threads, marks);
  return AcyclicDependencies(space).load(marks);
}

namespace {

constexpr unsigned most_lanes = 16;
using PerLane = std::array<std::uint32_t, most_lanes>;

/// Looks at each route once and moves it to a lane that carries less along its way and lets it in. What it leaves
/// behind in its old lane is not taken away: a set with more dependencies is still without a cycle.
void even_out(const SwitchGraph& graph, const ArcTables& arcs, std::deque<AcyclicDependencies>& lanes,
              Forwarding& tables) {
  std::vector<PerLane> carried(graph.arcs().size(), PerLane{});  // routes, by arc
  std::vector<std::uint32_t> path;
  const auto for_each_route = [&](const auto& use) {
    for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
      for (std::uint32_t source = 0; source < graph.rows(); ++source) {
        if (graph.sources_at(source) == 0 || source == terminal.row) continue;
        arcs.path(source, terminal.lid, path);
        use(source, terminal.lid, tables.service_level(source, 0, terminal.lid));
      }
    }
  };
  for_each_route([&](std::uint32_t source, Lid /*lid*/, std::uint8_t lane) {
    for (const std::uint32_t arc : path) carried[arc][lane] += graph.sources_at(source);
  });
  for_each_route([&](std::uint32_t source, Lid lid, std::uint8_t lane) {
    const std::uint32_t mine = graph.sources_at(source);
    PerLane cost{};
    for (const std::uint32_t arc : path) {
      carried[arc][lane] -= mine;
      for (unsigned one = 0; one < lanes.size(); ++one) cost[one] += carried[arc][one];
    }
    std::uint8_t best = lane;
    for (PerLane left = cost; best == lane;) {
      const auto least = static_cast<unsigned>(
          std::min_element(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(lanes.size())) - left.begin());
      if (left[least] >= cost[lane]) break;
      if (lanes[least].add_path(path)) best = static_cast<std::uint8_t>(least);
      left[least] = std::numeric_limits<std::uint32_t>::max();
    }
    for (const std::uint32_t arc : path) carried[arc][best] += mine;
    if (best != lane) tables.set_service_level(source, 0, lid, best);
  });
}

}  // namespace

unsigned assign_lanes(const SwitchGraph& graph, Forwarding& tables, unsigned most, unsigned there) {
  const ArcTables arcs(graph, tables);
  const DependencySpace space(graph);
  std::deque<AcyclicDependencies> lanes;
  lanes.emplace_back(space);
  std::vector<std::uint32_t> path;
  for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
    for (std::uint32_t source = 0; source < graph.rows(); ++source) {
      if (graph.sources_at(source) == 0 || source == terminal.row) continue;
      arcs.path(source, terminal.lid, path);
      const unsigned lane = first_lane_for(space, path, lanes);
      if (lane == most) return most + 1;
      if (lane != 0) tables.set_service_level(source, 0, terminal.lid, static_cast<std::uint8_t>(std::min(lane, 15U)));
    }
  }
  const auto needed = static_cast<unsigned>(lanes.size());
  there = std::min(there, most_lanes);
  if (needed > 1 && needed <= there && there < 2 * needed) {
    while (lanes.size() < there) lanes.emplace_back(space);
    even_out(graph, arcs, lanes, tables);
  }
  tables.lanes_used = static_cast<std::uint8_t>(lanes.size());
  return needed;
}

namespace {

/// The lanes that the routes of each lane are dealt to: what fills a lane most gets the next free one.
std::vector<std::vector<std::uint8_t>> parts_of_lanes(const SwitchGraph& graph, const Forwarding& tables,
                                                      unsigned available) {
  const unsigned used = tables.lanes_used;
  std::vector<std::uint64_t> routes(used, 0);
  for (std::uint32_t source = 0; source < graph.rows(); ++source) {
    if (graph.sources_at(source) == 0) continue;
    for (const SwitchGraph::Terminal& terminal : graph.terminals())
      routes[tables.service_level(source, 0, terminal.lid)] += graph.sources_at(source);
  }
  std::vector<std::vector<std::uint8_t>> parts(used);
  for (unsigned lane = 0; lane < used; ++lane) parts[lane].push_back(static_cast<std::uint8_t>(lane));
  for (unsigned lane = used; lane < available; ++lane) {
    const auto share = [&](unsigned of) { return routes[of] / parts[of].size(); };
    unsigned fullest = 0;
    for (unsigned other = 1; other < used; ++other) fullest = share(other) > share(fullest) ? other : fullest;
    parts[fullest].push_back(static_cast<std::uint8_t>(lane));
  }
  return parts;
}

void deal_in_turn(const SwitchGraph& graph, Forwarding& tables, const std::vector<std::vector<std::uint8_t>>& parts) {
  for (std::uint32_t source = 0; source < graph.rows(); ++source) {
    if (graph.sources_at(source) == 0) continue;
    std::size_t turn = 0;
    for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
      const std::vector<std::uint8_t>& mine = parts[tables.service_level(source, 0, terminal.lid)];
      tables.set_service_level(source, 0, terminal.lid, mine[(turn++ + source) % mine.size()]);
    }
  }
}

/// Of equal ones the next from `first` on.
unsigned least_of(const PerLane& cost, unsigned lanes, std::size_t first) {
  unsigned least = static_cast<unsigned>(first % lanes);
  for (unsigned lane = least, seen = 0; seen < lanes; ++seen, lane = lane + 1 == lanes ? 0 : lane + 1) {
    if (cost[lane] < cost[least]) least = lane;
  }
  return least;
}

/// Route after route on the lane that carries least on the channels of its way.
void deal_evenly(const SwitchGraph& graph, Forwarding& tables, unsigned available) {
  const ArcTables arcs(graph, tables);
  std::vector<PerLane> carried(graph.arcs().size(), PerLane{});  // routes, by arc
  std::vector<std::uint32_t> path;
  for (std::uint32_t source = 0; source < graph.rows(); ++source) {
    if (graph.sources_at(source) == 0) continue;
    std::size_t turn = source;
    for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
      arcs.path(source, terminal.lid, path);
      PerLane cost{};
      for (const std::uint32_t arc : path) {
        for (unsigned lane = 0; lane < most_lanes; ++lane) cost[lane] += carried[arc][lane];
      }
      const unsigned lane = least_of(cost, available, turn++);
      for (const std::uint32_t arc : path) carried[arc][lane] += graph.sources_at(source);
      tables.set_service_level(source, 0, terminal.lid, static_cast<std::uint8_t>(lane));
    }
  }
}

/// The leaf of the destination says whose turn it is, beginning elsewhere for each source: channels of a tree carry one
/// adapter a leaf, or one source a leaf, so that each lane gets as many. Without loads, so that threads share the
/// sources.
void deal_by_leaf(const SwitchGraph& graph, Forwarding& tables, unsigned available, unsigned threads) {
  std::vector<std::uint32_t> number(graph.rows(), 0);
  std::uint32_t leaves = 0;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    number[row] = leaves;
    if (graph.sources_at(row) != 0) ++leaves;
  }
  tables.make_service_levels(threads);
  parallel::parallel_for(graph.rows(), 8, threads, [&](unsigned /*worker*/, std::size_t begin, std::size_t end) {
    for (auto source = static_cast<std::uint32_t>(begin); source < end; ++source) {
      if (graph.sources_at(source) == 0) continue;
      for (const SwitchGraph::Terminal& terminal : graph.terminals())
        tables.set_service_level(source, 0, terminal.lid,
                                 static_cast<std::uint8_t>((number[terminal.row] + number[source]) % available));
    }
  });
}

}  // namespace

void spread_over_lanes(const SwitchGraph& graph, Forwarding& tables, unsigned available, unsigned threads,
                       std::uint64_t routes_to_walk) {
  if (tables.lanes_used >= available) return;
  if (tables.lanes_used == 1 && std::uint64_t{graph.rows()} * graph.terminals().size() > routes_to_walk) {
    deal_by_leaf(graph, tables, available, threads);
  } else if (tables.lanes_used == 1) {
    deal_evenly(graph, tables, available);
  } else {
    deal_in_turn(graph, tables, parts_of_lanes(graph, tables, available));
  }
  tables.lanes_used = static_cast<std::uint8_t>(available);
}

}  // namespace holdfast::fabric
