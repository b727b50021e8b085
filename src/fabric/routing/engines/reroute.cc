#include "fabric/routing/engines/reroute.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

#include "core/parallel/parallel_for.h"
#include "fabric/routing/engines/fat_tree.h"
#include "fabric/routing/engines/lane_guard.h"
#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/engines/mended_tables.h"
#include "fabric/routing/engines/up_down_tables.h"
#include "fabric/routing/engines/ways_beside.h"
#include "fabric/routing/graph/acyclic_dependencies.h"
#include "fabric/routing/graph/switch_graph.h"

namespace holdfast::fabric {
namespace {

/// What an engine's promise asks of mended routes.
enum class Care {
  none,      ///< any way
  levels,    ///< no turn from down to up in a tree, where the old routes have none
  beside,    ///< each destination has one lane, and new steps must close no cycle in it; whoever sends to a switch that
             ///< lost its way keeps the entry where that can be
  one_lane,  ///< the same, but those lose their ways, too
  lanes,     ///< shortest ways, then a lane for each route
  together,  ///< shortest ways that close no cycle in all lanes together, which have none: routes keep their lanes
};

std::optional<Care> care_of(std::string_view engine) {
  if (engine == "minhop" || engine == "sssp") return Care::none;
  if (engine == "updn" || engine == "dnup" || engine == "ftree" || engine == "dmodc" || engine == "nue")
    return Care::one_lane;
  if (engine == "lash" || engine == "dfsssp") return Care::lanes;
  return std::nullopt;
}

/// Whether some of these bytes lie between the two, ends included. In blocks of one length, for vector instructions.
bool any_within(std::span<const std::uint8_t> bytes, std::uint8_t low, std::uint8_t high) {
  constexpr std::size_t block = 64;
  const auto width = static_cast<std::uint8_t>(high - low);
  const auto lies_within = [=](std::uint8_t byte) { return static_cast<std::uint8_t>(byte - low) <= width; };
  std::size_t i = 0;
  for (; i + block <= bytes.size(); i += block) {
    std::uint8_t hits = 0;
    for (std::size_t j = 0; j < block; ++j)
      hits = static_cast<std::uint8_t>(hits | (lies_within(bytes[i + j]) ? 1 : 0));
    if (hits != 0) return true;
  }
  return std::any_of(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.end(), lies_within);
}

class Mender {
 public:
  /// `up_down` is for Care::levels, and holds for the old tables then; `shortest`: ways that grow are refused then.
  /// Tables are changed in place.
  Mender(const Fabric& fabric, const SwitchGraph& graph, Forwarding& tables, Care care, const UpDownTables* up_down,
         bool shortest, const EngineOptions& options)
      : fabric_(fabric),
        graph_(graph),
        tables_(tables),
        lanes_used_(tables.lanes_used),
        lanes_needed_(tables.lanes_needed),
        care_(care),
        shortest_(shortest),
        options_(options),
        space_(graph),
        mended_(fabric, graph, tables),
        guard_(graph, mended_.arcs()),
        beside_(graph, tables, mended_, guard_, up_down, sources_) {
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      if (graph.sources_at(row) != 0) sources_.push_back(row);
    }
  }

  /// False when everything must be routed anew; the tables are then what they were.
  bool run() {
    if (mend_all()) return true;
    mended_.take_back();
    tables_.lanes_used = lanes_used_;
    tables_.lanes_needed = lanes_needed_;
    return false;
  }

  std::uint32_t destinations() const { return static_cast<std::uint32_t>(destinations_.size()); }

 private:
  bool mend_all() {
    find_destinations();
    if (destinations_.empty()) return true;
    if (care_ == Care::levels || care_ == Care::beside) {
      if (care_ == Care::beside && !load_dependencies()) return false;
      for (Destination& destination : destinations_) {
        if (destination.adapter && !mend_beside(destination)) return false;
        if (!destination.adapter) mend_management(destination);
      }
      return true;
    }
    for (Destination& destination : destinations_) {
      if (destination.adapter) break_ways(destination);
    }
    if (care_ != Care::none && !load_dependencies()) return false;
    for (Destination& destination : destinations_) {
      if (destination.adapter && !mend(destination)) return false;
      if (!destination.adapter) mend_management(destination);
    }
    return true;
  }

  struct Destination : WayEnd {
    std::vector<std::uint32_t> lost;      // rows whose way is broken
    std::vector<std::uint8_t> old_ports;  // of them
  };

  bool leads_nowhere(std::uint32_t row, std::uint8_t port) const {
    if (port == 0 || port == Forwarding::no_port) return false;
    const Node& node = fabric_.node(graph_.switch_at(row));
    return port > node.port_count || fabric_.peer(node.first_port + port) == none;
  }

  struct Cut {
    Lid lid;
    std::uint32_t row;
    bool operator<(const Cut& other) const { return std::tie(lid, row) < std::tie(other.lid, other.row); }
  };

  /// Entries that lead into a dead cable, of one switch. Most have none: that is seen for many entries at once.
  void find_cuts(std::uint32_t row, std::vector<Cut>& cuts) const {
    if (graph_.arcs_of(row).empty()) return;
    std::array<std::uint8_t, 256> dead = {};
    for (unsigned port = 1; port < 255; ++port)
      dead[port] = leads_nowhere(row, static_cast<std::uint8_t>(port)) ? 1 : 0;
    const std::uint8_t* table = std::as_const(tables_).table(row);
    bool any = false;
    for (unsigned low = 1; low < 255 && !any; ++low) {
      if (dead[low] == 0) continue;
      unsigned high = low;
      while (high + 1 < 255 && dead[high + 1] != 0) ++high;
      any = any_within({table, tables_.lids()}, static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(high));
      low = high;
    }
    if (!any) return;
    for (Lid lid = 1; lid < tables_.lids(); ++lid) {
      if (dead[table[lid]] != 0) cuts.push_back({lid, row});
    }
  }

  /// A switch that no cable joins to another any more: nothing can mend its entries.
  void empty_isolated(std::uint32_t row) {
    std::array<std::uint8_t, 256> dead = {};
    for (unsigned port = 1; port < 255; ++port)
      dead[port] = leads_nowhere(row, static_cast<std::uint8_t>(port)) ? 1 : 0;
    for (Lid lid = 1; lid < tables_.lids(); ++lid) {
      if (dead[tables_.out_port(row, lid)] != 0) mended_.set_out_port(row, lid, Forwarding::no_port);
    }
  }

  /// LIDs that some switch would send into a dead cable, with these switches.
  void find_destinations() {
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      if (graph_.arcs_of(row).empty()) empty_isolated(row);
    }
    std::vector<std::vector<Cut>> by_worker(parallel::thread_count(options_.threads));
    parallel::parallel_for(graph_.rows(), 16, options_.threads,
                           [&](unsigned worker, std::size_t begin, std::size_t end) {
                             for (std::size_t row = begin; row < end; ++row)
                               find_cuts(static_cast<std::uint32_t>(row), by_worker[worker]);
                           });
    std::vector<Cut> cuts;
    for (const std::vector<Cut>& some : by_worker) cuts.insert(cuts.end(), some.begin(), some.end());
    if (cuts.empty()) return;
    std::sort(cuts.begin(), cuts.end());
    std::vector<std::uint32_t> row_of_lid(tables_.lids(), none);
    std::vector<std::uint8_t> adapter(tables_.lids(), 0);
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) row_of_lid[graph_.switch_lid(row)] = row;
    for (const SwitchGraph::Terminal& terminal : graph_.terminals()) {
      row_of_lid[terminal.lid] = terminal.row;
      adapter[terminal.lid] = 1;
    }
    for (const Cut& cut : cuts) {
      if (destinations_.empty() || destinations_.back().lid != cut.lid)
        destinations_.push_back({{cut.lid, row_of_lid[cut.lid], adapter[cut.lid] != 0}, {}, {}});
      destinations_.back().lost.push_back(cut.row);
    }
  }

  /// Takes away the entries of all switches whose way does not arrive: those cut off, and whoever sends to them.
  void break_ways(Destination& destination) {
    std::vector<std::uint32_t>& lost = destination.lost;
    for (const std::uint32_t row : lost) mended_.set_broken(row, true);
    for (std::size_t i = 0; i < lost.size(); ++i) {
      const std::uint32_t row = lost[i];
      for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
        if (mended_.broken(arc.to) || mended_.arcs().next(arc.to, destination.lid) != arc.reverse) continue;
        mended_.set_broken(arc.to, true);
        lost.push_back(arc.to);
      }
    }
    std::sort(lost.begin(), lost.end());
    for (const std::uint32_t row : lost) {
      mended_.set_broken(row, false);
      destination.old_ports.push_back(tables_.out_port(row, destination.lid));
      mended_.set_out_port(row, destination.lid, Forwarding::no_port);
    }
  }

  /// A switch's own LID carries management packets, of which no engine promises but that they arrive. A switch whose
  /// entry leads into a dead cable takes the neighbour whose way is whole and shortest, so that whoever sends to it
  /// keeps the entry; where all its neighbours came by it, one of those that has another way takes that, and only where
  /// there is none do all of them lose their ways in turn.
  void mend_management(Destination& destination) {
    if (destination.row == none) return break_ways(destination);
    std::vector<std::uint32_t> lost = destination.lost;
    for (const std::uint32_t row : lost) lose(row, destination);
    while (!lost.empty()) {
      mended_.begin_round();
      mended_.note(destination.row, 0);
      for (const std::uint32_t row : lost) mended_.note(row, none);
      std::vector<std::uint32_t> left;
      for (const std::uint32_t row : lost) {
        if (!join_nearest(row, destination.lid)) left.push_back(row);
      }
      bool moved = left.size() < lost.size();
      const std::size_t surrounded = moved ? 0 : left.size();
      for (std::size_t i = 0; i < surrounded; ++i) {
        if (turn_one_aside(left[i], destination.lid)) {
          moved = true;
          continue;
        }
        for (const SwitchGraph::Arc& arc : graph_.arcs_of(left[i])) {
          if (!mended_.sends_to(arc, destination.lid)) continue;
          left.push_back(arc.to);
          lose(arc.to, destination);
          moved = true;
        }
      }
      lost.swap(left);
      if (!moved) break;  // nothing leads there any more
    }
    for (const std::uint32_t row : lost) mended_.set_broken(row, false);
  }

  /// Whether one of those that send to this switch could be given a way that does not lead by it.
  bool turn_one_aside(std::uint32_t row, Lid lid) {
    for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
      if (!mended_.sends_to(arc, lid)) continue;
      mended_.set_old_port(arc.to, tables_.out_port(arc.to, lid));
      if (join_nearest(arc.to, lid)) return true;
    }
    return false;
  }

  bool join_nearest(std::uint32_t row, Lid lid) {
    std::uint32_t best = none;
    std::uint32_t least = none;
    for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) {
      const std::uint32_t hops = mended_.hops_from_here(graph_.arc(id).to, lid);
      if (hops >= least) continue;
      least = hops;
      best = id;
    }
    if (best == none) return false;
    mended_.set_broken(row, false);
    mended_.note(row, least + 1);
    mended_.enter(row, lid, best);
    return true;
  }

  std::uint8_t lane_of(std::uint32_t row, Lid lid) const {
    const std::uint8_t lane = tables_.service_level(row, 0, lid);
    return lane < 16 ? lane : 0;
  }

  /// That of all routes to this LID, where each destination has one.
  std::uint8_t lane_to(Lid lid) const { return lane_of(sources_.empty() ? 0 : sources_.front(), lid); }

  /// The dependencies of all routes, as far as they are whole. False when they have a cycle already.
  bool load_dependencies() {
    const unsigned lanes = care_ == Care::together ? 1
                           : care_ == Care::lanes  ? options_.lanes
                                                   : std::max<unsigned>(1, lanes_used_);
    std::vector<std::vector<std::uint8_t>> present(lanes, std::vector<std::uint8_t>(space_.size(), 0));
    std::atomic<bool> fits = true;
    parallel::parallel_for(
        graph_.terminals().size(), 64, options_.threads, [&](unsigned, std::size_t begin, std::size_t end) {
          std::vector<std::uint16_t> seen;
          for (std::size_t i = begin; i < end; ++i) {
            const Lid lid = graph_.terminals()[i].lid;
            seen.assign(graph_.rows(), 0);
            for (std::uint32_t row : sources_) {
              const std::uint8_t lane = care_ == Care::together ? 0 : lane_of(row, lid);
              if (lane >= lanes) fits = false;
              if (lane >= lanes) break;
              std::uint32_t arc = mended_.arcs().next(row, lid);
              while (arc != none && (seen[row] >> lane & 1U) == 0) {
                seen[row] = static_cast<std::uint16_t>(seen[row] | 1U << lane);
                row = graph_.arc(arc).to;
                const std::uint32_t next = mended_.arcs().next(row, lid);
                if (next != none)
                  std::atomic_ref(present[lane][space_.id(arc, next)]).store(1, std::memory_order_relaxed);
                arc = next;
              }
            }
          }
        });
    if (!fits) return false;
    for (const auto& one : present) {
      kept_.emplace_back(space_);
      if (!kept_.back().load(one)) return false;
    }
    return true;
  }

  void lose(std::uint32_t row, Destination& destination) {
    const std::uint8_t port = tables_.out_port(row, destination.lid);
    destination.old_ports.push_back(port);
    mended_.set_broken(row, true);
    mended_.set_old_port(row, port);
    mended_.note(row, none);
    mended_.set_out_port(row, destination.lid, Forwarding::no_port);
  }

  /// A switch whose way was cut takes another one that goes up or down as its old one did, or that closes no cycle, so
  /// that whoever sends to it keeps the entry; only where there is none do those lose their ways in turn.
  bool mend_beside(Destination& destination) {
    if (destination.row == none) {
      break_ways(destination);
      return true;
    }
    AcyclicDependencies* allowed = care_ == Care::beside ? &kept_[lane_to(destination.lid)] : nullptr;
    if (allowed != nullptr) beside_.find_senders(destination.lid);
    guard_.begin();
    mended_.begin_round();
    mended_.note(destination.row, 0);
    std::vector<std::uint32_t>& lost = destination.lost;
    for (const std::uint32_t row : lost) lose(row, destination);
    std::size_t left = 0;  // of those looked at, the first ones have no way yet
    for (std::size_t i = 0; i < lost.size(); ++i) {
      const std::uint32_t row = lost[i];
      if (allowed != nullptr ? beside_.step_aside_in_lane(row, destination, *allowed)
                             : beside_.step_aside_by_levels(row, destination))
        continue;
      for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
        if (mended_.broken(arc.to) || mended_.arcs().next(arc.to, destination.lid) != arc.reverse) continue;
        lost.push_back(arc.to);
        lose(arc.to, destination);
      }
      std::swap(destination.old_ports[left], destination.old_ports[i]);
      std::swap(lost[left++], lost[i]);
    }
    const std::vector<std::uint32_t> changed = shortest_ && destination.adapter ? lost : std::vector<std::uint32_t>();
    lost.resize(left);
    destination.old_ports.resize(left);
    if (allowed != nullptr && left == 0) guard_.drop_idle(destination.lid, sources_, *allowed);
    if (left != 0 && !mend(destination)) return false;
    return std::all_of(changed.begin(), changed.end(),
                       [&](std::uint32_t row) { return mended_.hops(row) == distance(row, destination.row); });
  }

  /// Hops from one switch to another; those to the last one asked for are kept.
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) {
    if (distances_are_to_ != to) graph_.distances_to(to, distance_);
    distances_are_to_ = to;
    return distance_[from];
  }

  bool mend(const Destination& destination) {
    if (destination.row == none) return true;  // its adapter or switch is cut off: the entries stay empty
    const bool one_lane = care_ == Care::one_lane || care_ == Care::beside;
    AcyclicDependencies* allowed = one_lane ? &kept_[lane_to(destination.lid)] : nullptr;
    guard_.begin();
    begin_measuring(destination);
    join(destination, allowed, !destination.adapter ? Care::none : one_lane ? Care::one_lane : care_);
    if (allowed != nullptr) guard_.drop_idle(destination.lid, sources_, *allowed);
    const bool joined = all_senders_joined(destination);
    if (care_ == Care::levels) join(destination, nullptr, Care::none);  // who deals in management packets alone
    for (const std::uint32_t row : destination.lost) mended_.set_broken(row, false);
    if (!joined) return false;
    return (care_ != Care::lanes && care_ != Care::together) || !destination.adapter || find_lanes(destination);
  }

  bool all_senders_joined(const Destination& destination) {
    return std::all_of(destination.lost.begin(), destination.lost.end(), [&](std::uint32_t row) {
      return graph_.sources_at(row) == 0 || tables_.out_port(row, destination.lid) != Forwarding::no_port ||
             distance(row, destination.row) == none;
    });
  }

  void begin_measuring(const Destination& destination) {
    mended_.begin_round();
    for (std::size_t i = 0; i < destination.lost.size(); ++i) {
      const std::uint32_t row = destination.lost[i];
      mended_.set_broken(row, true);
      mended_.set_old_port(row, destination.old_ports[i]);
      mended_.note(row, none);
    }
    mended_.note(destination.row, 0);
  }
  /// Joins broken rows to whole ones: fewest hops first, then the old port, then the port with the fewest LIDs.
  void join(const Destination& destination, AcyclicDependencies* allowed, Care care) {
    struct Step {
      std::uint32_t hops;
      std::uint32_t new_entry;
      std::uint32_t lids;
      std::uint32_t arc;
      bool operator>(const Step& other) const {
        return std::tie(hops, new_entry, lids, arc) > std::tie(other.hops, other.new_entry, other.lids, other.arc);
      }
    };
    std::priority_queue<Step, std::vector<Step>, std::greater<>> open;
    const auto offer = [&](std::uint32_t id) {
      const SwitchGraph::Arc& arc = graph_.arc(id);
      if (mended_.hops_from_here(arc.to, destination.lid) == none) return;
      const bool same = mended_.old_arc(arc.from) == id;
      const std::uint32_t lids = same || !destination.adapter ? 0 : mended_.lids_of(mended_.best_channel(id));
      open.push({mended_.hops(arc.to) + 1, same ? 0U : 1U, lids, id});
    };
    for (const std::uint32_t row : destination.lost) {
      if (!mended_.broken(row)) continue;
      for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) offer(id);
    }
    while (!open.empty()) {
      const std::uint32_t id = open.top().arc;
      open.pop();
      const SwitchGraph::Arc& arc = graph_.arc(id);
      if (!mended_.broken(arc.from)) continue;
      if (care == Care::levels && beside_.turns_up(id, destination)) continue;
      if (care == Care::one_lane && !guard_.admit(id, destination.lid, destination.row, *allowed)) continue;
      mended_.set_broken(arc.from, false);
      mended_.note(arc.from, mended_.hops(arc.to) + 1);
      mended_.enter(arc.from, destination.lid, id);
      for (const SwitchGraph::Arc& out : graph_.arcs_of(arc.from)) {
        if (mended_.broken(out.to)) offer(out.reverse);
      }
    }
  }

  /// A lane for every mended route: its own if that still works, or the first that does.
  bool find_lanes(const Destination& destination) {
    std::vector<std::uint32_t> path;
    for (const std::uint32_t row : destination.lost) {
      if (graph_.sources_at(row) == 0 || tables_.out_port(row, destination.lid) == Forwarding::no_port) continue;
      mended_.arcs().path(row, destination.lid, path);
      if (care_ == Care::together) {
        if (!kept_[0].add_path(path)) return false;
        continue;
      }
      tables_.lanes_needed = 0;  // whether parts of a lane still go together is not known
      const std::uint8_t own = lane_of(row, destination.lid);
      std::uint8_t lane = own;
      if (!kept_[own].add_path(path)) {
        lane = 0;
        while (lane < kept_.size() && !kept_[lane].add_path(path)) ++lane;
        if (lane == kept_.size()) return false;
      }
      if (lane != own) {
        mended_.set_service_level(row, destination.lid, lane);
      }
      tables_.lanes_used = std::max<std::uint8_t>(tables_.lanes_used, static_cast<std::uint8_t>(lane + 1));
    }
    return true;
  }

  const Fabric& fabric_;
  const SwitchGraph& graph_;
  Forwarding& tables_;
  std::uint8_t lanes_used_;    // before
  std::uint8_t lanes_needed_;  // before
  Care care_;
  bool shortest_;
  const EngineOptions& options_;
  DependencySpace space_;
  std::vector<std::uint32_t> sources_;
  std::vector<Destination> destinations_;
  std::vector<AcyclicDependencies> kept_;  // by lane
  MendedTables mended_;
  LaneGuard guard_;
  WaysBeside beside_;
  std::vector<std::uint32_t> distance_;
  std::uint32_t distances_are_to_ = none;
};

/// Whether all switches that cables join have the levels that were known; the others are on no route.
bool same_levels(const SwitchGraph& graph, const std::vector<std::uint32_t>& known,
                 const std::vector<std::uint32_t>& level) {
  if (known.size() != level.size()) return false;
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    if (known[row] != level[row] && !graph.arcs_of(row).empty()) return false;
  }
  return true;
}

/// The levels of a tree, when the old routes go up and then down by them.
std::optional<std::vector<std::uint32_t>> find_up_down(const Fabric& fabric, const SwitchGraph& graph,
                                                       const Forwarding& old, std::string_view engine,
                                                       const EngineOptions& options) {
  auto level = fat_tree_levels(fabric, graph, engine, options);
  if (!level.ok()) return std::nullopt;
  if (!same_levels(graph, old.up_down_levels(), level.value()) &&
      !UpDownTables(graph, level.value()).holds(old, options.threads))
    return std::nullopt;
  return std::move(level).value();
}

}  // namespace

Result<Rerouting> reroute(const Fabric& fabric, Forwarding old, std::string_view engine, const EngineOptions& options) {
  const auto known = find_engine(engine);
  if (!known.ok()) return known.status();
  const std::optional<Care> care = care_of(engine);
  Rerouting result;
  const bool usable =
      care && !old.has_lane_maps() && !old.distinguishes_sources() && old.lids() == fabric.top_lid() + 1;
  if (usable && options.lanes >= 1 && options.lanes <= 15) {
    const SwitchGraph graph(fabric);
    std::vector<Care> ways = {*care};
    if (*care == Care::one_lane) ways.insert(ways.begin(), Care::beside);
    if (*care == Care::lanes && old.lanes_needed == 1 && old.lanes_used <= options.lanes)
      ways.insert(ways.begin(), Care::together);
    const bool one_lane = *care == Care::one_lane && (old.lanes_used == 1 || !old.up_down_levels().empty());
    const bool dealt_out = ways.front() == Care::together && !old.up_down_levels().empty();  // from one lane to all
    const bool by_levels = *care == Care::none && !old.up_down_levels().empty();             // no promise, but quickly
    const auto levels =
        one_lane || dealt_out || by_levels ? find_up_down(fabric, graph, old, engine, options) : std::nullopt;
    std::optional<UpDownTables> up_down;
    if (levels) {
      up_down.emplace(graph, *levels);
      ways.insert(ways.begin(), Care::levels);
    }
    for (const Care way : ways) {
      Mender mender(fabric, graph, old, way, up_down ? &*up_down : nullptr, known.value().minimal, options);
      if (!mender.run()) continue;
      if (way == Care::levels) old.know_up_down(*levels);
      result.destinations = mender.destinations();
      result.tables = std::move(old);
      return result;
    }
  }
  auto fresh = route(fabric, engine, options);
  if (!fresh.ok()) return fresh.status();
  result.tables = std::move(fresh).value();
  result.anew = true;
  return result;
}

}  // namespace holdfast::fabric
