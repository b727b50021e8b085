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
#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/engines/up_down_tables.h"
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
        up_down_(up_down),
        shortest_(shortest),
        options_(options),
        arcs_(graph, tables_),
        space_(graph),
        hops_(graph.rows()),
        measured_(graph.rows()),
        taken_(graph.rows()),
        taken_in_(graph.rows()),
        old_port_(graph.rows()),
        broken_(graph.rows()) {
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      if (graph.sources_at(row) != 0) sources_.push_back(row);
    }
  }

  /// False when everything must be routed anew; the tables are then what they were.
  bool run() {
    if (mend_all()) return true;
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
      if (change->is_level) {
        tables_.set_service_level(change->row, 0, change->lid, change->before);
      } else {
        tables_.set_out_port(change->row, change->lid, change->before);
      }
    }
    tables_.lanes_used = lanes_used_;
    tables_.lanes_needed = lanes_needed_;
    return false;
  }

  std::uint32_t destinations() const { return static_cast<std::uint32_t>(destinations_.size()); }

 private:
  struct Change {
    std::uint32_t row;
    Lid lid;
    std::uint8_t before;
    bool is_level;
  };

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

  struct Destination {
    Lid lid;
    std::uint32_t row;  // its switch; none: nothing leads there any more
    bool adapter;
    std::vector<std::uint32_t> lost;      // rows whose way is broken
    std::vector<std::uint8_t> old_ports;  // of them
  };

  void set_out_port(std::uint32_t row, Lid lid, std::uint8_t port) {
    changes_.push_back({row, lid, tables_.out_port(row, lid), false});
    tables_.set_out_port(row, lid, port);
  }

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
      if (dead[tables_.out_port(row, lid)] != 0) set_out_port(row, lid, Forwarding::no_port);
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
        destinations_.push_back({cut.lid, row_of_lid[cut.lid], adapter[cut.lid] != 0, {}, {}});
      destinations_.back().lost.push_back(cut.row);
    }
  }

  /// Takes away the entries of all switches whose way does not arrive: those cut off, and whoever sends to them.
  void break_ways(Destination& destination) {
    std::vector<std::uint32_t>& lost = destination.lost;
    for (const std::uint32_t row : lost) broken_[row] = 1;
    for (std::size_t i = 0; i < lost.size(); ++i) {
      const std::uint32_t row = lost[i];
      for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
        if (broken_[arc.to] != 0 || arcs_.next(arc.to, destination.lid) != arc.reverse) continue;
        broken_[arc.to] = 1;
        lost.push_back(arc.to);
      }
    }
    std::sort(lost.begin(), lost.end());
    for (const std::uint32_t row : lost) {
      broken_[row] = 0;
      destination.old_ports.push_back(tables_.out_port(row, destination.lid));
      set_out_port(row, destination.lid, Forwarding::no_port);
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
      ++round_;
      note(destination.row, 0);
      for (const std::uint32_t row : lost) note(row, none);
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
          if (!sends_to(arc, destination.lid)) continue;
          left.push_back(arc.to);
          lose(arc.to, destination);
          moved = true;
        }
      }
      lost.swap(left);
      if (!moved) break;  // nothing leads there any more
    }
    for (const std::uint32_t row : lost) broken_[row] = 0;
  }

  /// Whether the switch at the end of the arc sends to its beginning.
  bool sends_to(const SwitchGraph::Arc& arc, Lid lid) const {
    return broken_[arc.to] == 0 && arcs_.next(arc.to, lid) == arc.reverse;
  }

  /// Whether one of those that send to this switch could be given a way that does not lead by it.
  bool turn_one_aside(std::uint32_t row, Lid lid) {
    for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
      if (!sends_to(arc, lid)) continue;
      old_port_[arc.to] = tables_.out_port(arc.to, lid);
      if (join_nearest(arc.to, lid)) return true;
    }
    return false;
  }

  bool join_nearest(std::uint32_t row, Lid lid) {
    std::uint32_t best = none;
    std::uint32_t least = none;
    for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) {
      const std::uint32_t hops = hops_from_here(graph_.arc(id).to, lid);
      if (hops >= least) continue;
      least = hops;
      best = id;
    }
    if (best == none) return false;
    broken_[row] = 0;
    note(row, least + 1);
    enter(row, lid, best);
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
              std::uint32_t arc = arcs_.next(row, lid);
              while (arc != none && (seen[row] >> lane & 1U) == 0) {
                seen[row] = static_cast<std::uint16_t>(seen[row] | 1U << lane);
                row = graph_.arc(arc).to;
                const std::uint32_t next = arcs_.next(row, lid);
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
    broken_[row] = 1;
    old_port_[row] = port;
    note(row, none);
    set_out_port(row, destination.lid, Forwarding::no_port);
  }

  /// A switch whose way was cut takes another one that goes up or down as its old one did, or that closes no cycle, so
  /// that whoever sends to it keeps the entry; only where there is none do those lose their ways in turn.
  bool mend_beside(Destination& destination) {
    if (destination.row == none) {
      break_ways(destination);
      return true;
    }
    AcyclicDependencies* allowed = care_ == Care::beside ? &kept_[lane_to(destination.lid)] : nullptr;
    if (allowed != nullptr) find_senders(destination.lid);
    added_.clear();
    refused_ = false;
    ++round_;
    note(destination.row, 0);
    std::vector<std::uint32_t>& lost = destination.lost;
    for (const std::uint32_t row : lost) lose(row, destination);
    std::size_t left = 0;  // of those looked at, the first ones have no way yet
    for (std::size_t i = 0; i < lost.size(); ++i) {
      const std::uint32_t row = lost[i];
      if (allowed != nullptr ? step_aside(row, destination, *allowed) : step_aside(row, destination)) continue;
      for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
        if (broken_[arc.to] != 0 || arcs_.next(arc.to, destination.lid) != arc.reverse) continue;
        lost.push_back(arc.to);
        lose(arc.to, destination);
      }
      std::swap(destination.old_ports[left], destination.old_ports[i]);
      std::swap(lost[left++], lost[i]);
    }
    const std::vector<std::uint32_t> changed = shortest_ && destination.adapter ? lost : std::vector<std::uint32_t>();
    lost.resize(left);
    destination.old_ports.resize(left);
    if (allowed != nullptr && left == 0) drop_idle(destination.lid, *allowed);
    if (left != 0 && !mend(destination)) return false;
    return std::all_of(changed.begin(), changed.end(),
                       [&](std::uint32_t row) { return hops_[row] == distance(row, destination.row); });
  }

  /// Hops from one switch to another; those to the last one asked for are kept.
  std::uint32_t distance(std::uint32_t from, std::uint32_t to) {
    if (distances_are_to_ != to) graph_.distances_to(to, distance_);
    distances_are_to_ = to;
    return distance_[from];
  }

  /// Whether the old entry of a switch that lost its way led up, over a cable that may be dead.
  bool led_up(std::uint32_t row) const {
    const Node& node = fabric_.node(graph_.switch_at(row));
    const std::uint8_t port = old_port_[row];
    if (port == 0 || port > node.port_count || fabric_.port(node.first_port + port).link == none) return false;
    const Link& cable = fabric_.link(fabric_.port(node.first_port + port).link);
    const PortId far = cable.a == node.first_port + port ? cable.b : cable.a;
    const std::uint32_t next = tables_.row_of(fabric_.port(far).node);
    return next != none && up_down_->level(next) > up_down_->level(row);
  }

  /// The nearest other way of a switch that turns no route from down to up; of several the one whose port has the
  /// fewest LIDs, and to whom the fewest others stepped for this LID. Who went up could not go down, and looks up
  /// first.
  bool step_aside(std::uint32_t row, const Destination& destination) {
    const bool went_up = led_up(row);
    std::uint32_t best = none;
    std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> least;
    const bool traffic = destination.adapter;  // where there is none, entries need not be counted
    const bool in_use = traffic && busy(row, destination.lid);
    for (const bool up : {true, false}) {
      if (best != none || (up && !went_up)) continue;
      for (const std::uint32_t id : ways_of(row)[up ? 1 : 0]) {
        if (!up && turns_up(id, destination)) continue;
        const std::uint32_t to = graph_.arc(id).to;
        const std::uint32_t hops = measured_[to] == round_ ? hops_[to] : hops_from_here(to, destination.lid);
        if (hops == none || (best != none && hops > std::get<0>(least))) continue;
        const std::uint32_t channel = best_channel(id);
        const std::uint32_t beside = taken_in_[to] == round_ ? taken_[to] : 0;
        const std::tuple cost(hops, beside + (in_use ? busy_by_channel_[channel] : 0),
                              traffic ? lids_by_channel_[channel] : 0);
        if ((best != none && cost >= least) || (up && turns_up(id, destination))) continue;
        best = id;
        least = cost;
      }
    }
    if (best == none) return false;
    const std::uint32_t to = graph_.arc(best).to;
    taken_[to] = taken_in_[to] == round_ ? taken_[to] + 1 : 1;
    taken_in_[to] = round_;
    broken_[row] = 0;
    note(row, std::get<0>(least) + 1);
    enter(row, destination.lid, best);
    return true;
  }

  /// The nearest other way that closes no cycle in the lane, also not for those who send to this switch; of several the
  /// one whose port has the fewest LIDs.
  bool step_aside(std::uint32_t row, const Destination& destination, AcyclicDependencies& allowed) {
    std::vector<std::array<std::uint32_t, 3>> ways;  // hops from there, LIDs, arc
    for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) {
      const std::uint32_t hops = hops_from_here(graph_.arc(id).to, destination.lid);
      if (hops != none) ways.push_back({hops, lids_of(best_channel(id)), id});
    }
    std::sort(ways.begin(), ways.end());
    for (const auto& [hops, lids, id] : ways) {
      if (!admit_for_senders(row, id, destination, allowed)) continue;
      broken_[row] = 0;
      note(row, hops + 1);
      enter(row, destination.lid, id);
      return true;
    }
    return false;
  }

  /// Adds the dependencies of the whole way that begins with this arc, and of those who send to its first switch, or
  /// none of them.
  bool admit_for_senders(std::uint32_t row, std::uint32_t id, const Destination& destination,
                         AcyclicDependencies& allowed) {
    const std::size_t mark = added_.size();
    if (!admit(id, destination, allowed)) return false;
    for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
      if (sends_[arc.to] == 0 || !sends_to(arc, destination.lid)) continue;
      if (!add(arc.reverse, id, mark, allowed)) return false;
    }
    return true;
  }

  /// The switches through which adapters send to this LID.
  void find_senders(Lid lid) {
    sends_.assign(graph_.rows(), 0);
    for (std::uint32_t row : sources_) {
      while (sends_[row] == 0) {
        sends_[row] = 1;
        const std::uint32_t arc = arcs_.next(row, lid);
        if (arc == none) break;
        row = graph_.arc(arc).to;
      }
    }
  }

  /// The arcs out of a switch that lead down, and those that lead up; sorted when it is first looked at.
  const std::array<std::vector<std::uint32_t>, 2>& ways_of(std::uint32_t row) {
    if (ways_.empty()) ways_.resize(graph_.rows());
    std::array<std::vector<std::uint32_t>, 2>& ways = ways_[row];
    if (!ways[0].empty() || !ways[1].empty()) return ways;
    for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id)
      ways[up_down_->leads_up(id) ? 1 : 0].push_back(id);
    return ways;
  }

  bool mend(const Destination& destination) {
    if (destination.row == none) return true;  // its adapter or switch is cut off: the entries stay empty
    const bool one_lane = care_ == Care::one_lane || care_ == Care::beside;
    AcyclicDependencies* allowed = one_lane ? &kept_[lane_to(destination.lid)] : nullptr;
    added_.clear();
    refused_ = false;
    begin_measuring(destination);
    join(destination, allowed, !destination.adapter ? Care::none : one_lane ? Care::one_lane : care_);
    if (allowed != nullptr) drop_idle(destination.lid, *allowed);
    const bool joined = all_senders_joined(destination);
    if (care_ == Care::levels) join(destination, nullptr, Care::none);  // who deals in management packets alone
    for (const std::uint32_t row : destination.lost) broken_[row] = 0;
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
    ++round_;
    for (std::size_t i = 0; i < destination.lost.size(); ++i) {
      const std::uint32_t row = destination.lost[i];
      broken_[row] = 1;
      old_port_[row] = destination.old_ports[i];
      note(row, none);
    }
    note(destination.row, 0);
  }
  void note(std::uint32_t row, std::uint32_t hops) {
    hops_[row] = hops;
    measured_[row] = round_;
  }

  /// Hops from this switch, if its way is whole; `none` otherwise. Each switch is looked at once for a destination.
  std::uint32_t hops_from_here(std::uint32_t row, Lid lid) {
    way_.clear();
    while (measured_[row] != round_) {
      const std::uint32_t arc = way_.size() > graph_.rows() ? none : arcs_.next(row, lid);
      way_.push_back(row);
      if (arc == none) {  // it never had a way
        for (const std::uint32_t on_way : way_) note(on_way, none);
        return none;
      }
      row = graph_.arc(arc).to;
    }
    std::uint32_t hops = hops_[row];
    for (auto back = way_.rbegin(); back != way_.rend(); ++back) {
      hops = hops == none ? none : hops + 1;
      note(*back, hops);
    }
    return hops;
  }

  /// Whether on the whole way that begins with this arc a packet would turn from down to up. Further on it may, where
  /// nobody sent before.
  bool turns_up(std::uint32_t id, const Destination& destination) const {
    bool down = false;
    for (std::uint32_t steps = 0; id != none && steps <= graph_.rows(); ++steps) {
      if (down && up_down_->leads_up(id)) return true;
      down = !up_down_->leads_up(id);
      id = graph_.arc(id).to == destination.row ? none : arcs_.next(graph_.arc(id).to, destination.lid);
    }
    return false;
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
      if (hops_from_here(arc.to, destination.lid) == none) return;
      const bool same = old_arc(arc.from) == id;
      const std::uint32_t lids = same || !destination.adapter ? 0 : lids_of(best_channel(id));
      open.push({hops_[arc.to] + 1, same ? 0U : 1U, lids, id});
    };
    for (const std::uint32_t row : destination.lost) {
      if (broken_[row] == 0) continue;
      for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) offer(id);
    }
    while (!open.empty()) {
      const std::uint32_t id = open.top().arc;
      open.pop();
      const SwitchGraph::Arc& arc = graph_.arc(id);
      if (broken_[arc.from] == 0) continue;
      if (care == Care::levels && turns_up(id, destination)) continue;
      if (care == Care::one_lane && !admit(id, destination, *allowed)) continue;
      broken_[arc.from] = 0;
      hops_[arc.from] = hops_[arc.to] + 1;
      enter(arc.from, destination.lid, id);
      for (const SwitchGraph::Arc& out : graph_.arcs_of(arc.from)) {
        if (broken_[out.to] != 0) offer(out.reverse);
      }
    }
  }

  /// Adds the dependencies of the whole way that begins with this arc, or none of them. Those further on may be
  /// missing: a switch through which nobody sent has none.
  bool admit(std::uint32_t id, const Destination& destination, AcyclicDependencies& allowed) {
    const std::size_t mark = added_.size();
    for (std::uint32_t at = id; graph_.arc(at).to != destination.row;) {
      const std::uint32_t next = arcs_.next(graph_.arc(at).to, destination.lid);
      if (!add(at, next, mark, allowed)) return false;
      at = next;
    }
    return true;
  }

  /// One dependency. False where it would close a cycle; all that were added since `mark` are then taken back.
  bool add(std::uint32_t from, std::uint32_t to, std::size_t mark, AcyclicDependencies& allowed) {
    const bool fresh = !allowed.has(from, to);
    if (allowed.add(from, to)) {
      if (fresh) added_.emplace_back(from, to);
      return true;
    }
    refused_ = true;
    for (; added_.size() > mark; added_.pop_back()) allowed.remove(added_.back().first, added_.back().second);
    return false;
  }

  /// Takes back the dependencies of switches through which no adapter sends to this LID: they would only be in the way
  /// of others.
  void drop_idle(Lid lid, AcyclicDependencies& allowed) {
    std::vector<std::uint8_t> busy(graph_.rows(), 0);
    for (std::uint32_t row : sources_) {
      for (std::uint32_t arc = arcs_.next(row, lid); arc != none && busy[row] == 0; arc = arcs_.next(row, lid)) {
        busy[row] = 1;
        row = graph_.arc(arc).to;
      }
    }
    bool removed = false;
    for (const auto& [a, b] : added_) {
      if (busy[graph_.arc(a).from] != 0) continue;
      allowed.remove(a, b);
      removed = true;
    }
    if (removed && refused_) allowed.forget_refusals();
  }

  /// The arc of the old entry of a switch that lost its way, if its cable works.
  std::uint32_t old_arc(std::uint32_t row) const { return arcs_.by_port(row, old_port_[row]); }

  void enter(std::uint32_t row, Lid lid, std::uint32_t arc) {
    if (old_arc(row) == arc) {
      set_out_port(row, lid, old_port_[row]);
      return;
    }
    const std::uint32_t channel = best_channel(arc);
    set_out_port(row, lid, graph_.channels()[channel].port);
    if (counted_.empty() || counted_[row] == 0) return;  // who counts later counts this entry
    ++lids_by_channel_[channel];
    if (busy(row, lid)) ++busy_by_channel_[channel];
  }

  /// How many LIDs a channel is the way out for: counted when a switch is first looked at.
  std::uint32_t lids_of(std::uint32_t channel) {
    count_lids(graph_.arc(graph_.channels()[channel].arc).from);
    return lids_by_channel_[channel];
  }
  /// Whether adapters send to this LID through this switch, as far as its neighbours' tables tell.
  bool busy(std::uint32_t row, Lid lid) {
    count_lids(row);
    return busy_[row].empty() || busy_[row][lid] != 0;
  }

  void count_lids(std::uint32_t row) {
    if (lids_by_channel_.empty()) {
      lids_by_channel_.assign(graph_.channels().size(), 0);
      busy_by_channel_.assign(graph_.channels().size(), 0);
      busy_.resize(graph_.rows());
      counted_.assign(graph_.rows(), 0);
    }
    if (counted_[row] != 0) return;
    counted_[row] = 1;
    find_busy(row);
    const std::uint8_t* table = std::as_const(tables_).table(row);
    std::array<std::uint32_t, 256> by_port = {};
    std::array<std::uint32_t, 256> busy_by_port = {};
    for (Lid lid = 0; lid < tables_.lids(); ++lid) {
      ++by_port[table[lid]];
      if (!busy_[row].empty()) busy_by_port[table[lid]] += busy_[row][lid];
    }
    if (busy_[row].empty()) busy_by_port = by_port;
    for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
      for (std::uint32_t i = arc.first_channel; i < arc.first_channel + arc.channels; ++i) {
        lids_by_channel_[i] = by_port[graph_.channels()[i].port];
        busy_by_channel_[i] = busy_by_port[graph_.channels()[i].port];
      }
    }
  }

  /// Of a switch without adapters that has neighbours with some: the LIDs that these send to it. Of all others, each
  /// LID counts; likewise when there are so many switches to look at that it would take long.
  void find_busy(std::uint32_t row) {
    constexpr unsigned most_rows = 64;
    if (graph_.sources_at(row) != 0 || rows_with_busy_ >= most_rows) return;
    std::vector<std::uint8_t> busy;
    for (const SwitchGraph::Arc& out : graph_.arcs_of(row)) {
      if (graph_.sources_at(out.to) == 0) continue;
      busy.resize(tables_.lids());
      const SwitchGraph::Arc& in = graph_.arc(out.reverse);
      const std::uint8_t* table = std::as_const(tables_).table(in.from);
      for (std::uint32_t i = in.first_channel; i < in.first_channel + in.channels; ++i) {
        const std::uint8_t port = graph_.channels()[i].port;
        for (std::size_t lid = 0; lid < busy.size(); ++lid)
          busy[lid] = static_cast<std::uint8_t>(busy[lid] | (table[lid] == port ? 1 : 0));
      }
    }
    if (!busy.empty()) ++rows_with_busy_;
    busy_[row] = std::move(busy);
  }

  std::uint32_t best_channel(std::uint32_t id) {
    const SwitchGraph::Arc& arc = graph_.arc(id);
    std::uint32_t best = arc.first_channel;
    for (std::uint32_t i = 1; i < arc.channels; ++i) {
      if (lids_of(arc.first_channel + i) < lids_of(best)) best = arc.first_channel + i;
    }
    return best;
  }

  /// A lane for every mended route: its own if that still works, or the first that does.
  bool find_lanes(const Destination& destination) {
    std::vector<std::uint32_t> path;
    for (const std::uint32_t row : destination.lost) {
      if (graph_.sources_at(row) == 0 || tables_.out_port(row, destination.lid) == Forwarding::no_port) continue;
      arcs_.path(row, destination.lid, path);
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
        changes_.push_back({row, destination.lid, tables_.service_level(row, 0, destination.lid), true});
        tables_.set_service_level(row, 0, destination.lid, lane);
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
  std::vector<Change> changes_;
  Care care_;
  const UpDownTables* up_down_;
  bool shortest_;
  const EngineOptions& options_;
  ArcTables arcs_;
  DependencySpace space_;
  std::vector<std::uint32_t> sources_;
  std::vector<Destination> destinations_;
  std::vector<AcyclicDependencies> kept_;  // by lane
  std::vector<std::uint32_t> distance_;
  std::uint32_t distances_are_to_ = none;
  std::vector<std::uint32_t> hops_;      // by row: valid where measured_ is this round
  std::vector<std::uint32_t> measured_;  // by row
  std::vector<std::uint32_t> taken_;     // by row: how many stepped aside to it, where taken_in_ is this round
  std::vector<std::uint32_t> taken_in_;  // by row
  std::uint32_t round_ = 0;
  std::vector<std::uint32_t> way_;
  std::vector<std::uint8_t> old_port_;  // by row: of those lost, for the destination at hand
  std::vector<std::uint8_t> broken_;    // by row: lost and not joined yet, of the destination at hand
  std::vector<std::uint32_t> lids_by_channel_;
  std::vector<std::array<std::vector<std::uint32_t>, 2>> ways_;  // by row
  std::vector<std::uint32_t> busy_by_channel_;
  std::vector<std::vector<std::uint8_t>> busy_;  // by row, then by LID
  unsigned rows_with_busy_ = 0;
  std::vector<std::uint8_t> counted_;
  std::vector<std::uint8_t> sends_;  // by row: adapters send through it to the destination at hand
  std::vector<std::pair<std::uint32_t, std::uint32_t>> added_;  // dependencies, for the destination at hand
  bool refused_ = false;                                        // whether any was
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
    const bool one_lane = *care == Care::one_lane && old.lanes_used == 1;
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
