#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "core/parallel/parallel_for.h"
#include "fabric/routing/engines/balance.h"
#include "fabric/routing/engines/dragonfly_groups.h"
#include "fabric/routing/engines/lane_loops.h"
#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/engines/layers.h"
#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/relief.h"
#include "fabric/routing/engines/turns.h"

// Minimal and Valiant routing with lanes by direction: J. Kim, W. Dally, S. Scott, D. Abts, "Technology-Driven,
// Highly-Scalable Dragonfly Topology", ISCA 2008, section 4; for Dragonfly+ A. Shpiner et al., HiPINEB 2017.
//
// A path is a walk from group to group, with steps within each. The first LID of an adapter is reached over the one
// link between the groups (local, global, local); each further one (LMC) over another group, which is drawn by the LID:
// Valiant's way, which spreads what any two groups send one another over all.
//
// The lane is the number of links between groups behind a packet, for the steps within a group as for the link out of
// it: local 0, global 0, local 1, global 1, local 2. Who is further on never waits for who is behind, and steps within
// one group are one, or lead down and then up. A switch sees a packet's service level, the port it came by and the one
// it leaves by, but not its lane. Level 0 is for paths over one link: a packet that came from another group has crossed
// it. For those over a group between, a level stands for a bit of the groups' numbers and its value at the source, a
// bit in which the group between differs: by it a switch knows whether it lies in a source or between, and who sent to
// it likewise. 2 * log2(groups) levels and level 0 fit into 16 for 128 groups.
//
// Where an adapter has one LID, switches take their ways in turn (turns.h), each beginning with another one, so that
// destinations are independent of one another and threads share them. What that leaves uneven is laid by loads.

namespace holdfast::fabric {
namespace {

constexpr std::uint32_t most_groups = 128;

struct DragonflyNetwork {
  const Fabric& fabric;
  const SwitchGraph& graph;
  DragonflyGroups groups;
  std::vector<std::uint8_t> joined_pairs = {};  ///< whether a cable leads from one group to the other

  std::uint32_t group(std::uint32_t row) const { return groups.of_row[row]; }
  std::size_t pair(std::uint32_t a, std::uint32_t b) const { return std::size_t{a} * groups.count + b; }
  bool joined(std::uint32_t a, std::uint32_t b) const { return joined_pairs[pair(a, b)] != 0; }

  bool all_joined() const {
    for (std::uint32_t a = 0; a < groups.count; ++a) {
      for (std::uint32_t b = 0; b < groups.count; ++b) {
        if (a != b && !joined(a, b)) return false;
      }
    }
    return true;
  }

  /// Arcs from one row after another: what searches look at of them lies side by side.
  struct Steps {
    std::vector<std::uint32_t> first = {};  ///< by row, and one more
    std::vector<std::uint32_t> arc = {};
    std::vector<std::uint32_t> to = {};  ///< the row that it leads to
  };
  Steps inside = {};                          ///< to switches of the same group
  std::vector<std::uint32_t> alike = {};      ///< by row: the first of those whose steps inside lead to the same
  Steps across = {};                          ///< to others, by the group that they lead to
  std::vector<std::uint32_t> across_to = {};  ///< that group
  std::vector<std::vector<std::uint32_t>> doors = {};  ///< by group: its rows with arcs across
  std::vector<std::vector<std::uint32_t>> rows = {};   ///< by group

  void find_joined() {
    joined_pairs.assign(std::size_t{groups.count} * groups.count, 0);
    doors.resize(groups.count);
    rows.resize(groups.count);
    std::map<std::vector<std::uint32_t>, std::uint32_t> first_to;
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      rows[group(row)].push_back(row);
      for (Steps* steps : {&inside, &across}) steps->first.push_back(static_cast<std::uint32_t>(steps->arc.size()));
      std::vector<std::uint32_t> out;
      for (std::uint32_t id = graph.first_arc(row); id < graph.first_arc(row + 1); ++id) {
        const std::uint32_t to = group(graph.arc(id).to);
        joined_pairs[pair(group(row), to)] = 1;
        if (to == group(row)) {
          add(inside, id);
        } else {
          out.push_back(id);
        }
      }
      const std::vector<std::uint32_t> to(inside.to.begin() + inside.first[row], inside.to.end());
      alike.push_back(first_to.emplace(to, row).first->second);
      if (!out.empty()) doors[group(row)].push_back(row);
      std::ranges::stable_sort(out, {}, [this](std::uint32_t id) { return group(graph.arc(id).to); });
      for (const std::uint32_t id : out) {
        add(across, id);
        across_to.push_back(group(graph.arc(id).to));
      }
    }
    for (Steps* steps : {&inside, &across}) steps->first.push_back(static_cast<std::uint32_t>(steps->arc.size()));
  }

  void add(Steps& steps, std::uint32_t id) const {
    steps.arc.push_back(id);
    steps.to.push_back(graph.arc(id).to);
  }
};

/// The paths to one destination after another; one to a thread.
class DragonflyWays {
 public:
  explicit DragonflyWays(const DragonflyNetwork& network)
      : network_(network),
        steps_to_(network.graph.rows()),
        next_(network.groups.count),
        hops_(network.graph.rows()),
        reached_(network.groups.count) {}

  /// Shortest paths by way of a group; `none`: straight.
  void find(std::uint32_t destination, std::uint32_t between, Choices& choices) {
    choose_groups(network_.group(destination), between);
    search(destination, choices);
    list(choices);
  }

  /// The straight ones of many destinations, where all groups are joined: `choices` are those that this object found
  /// last here, or empty. Where all rows have a route (else: false), they come group by group in their order, those of
  /// the destination's first; the others keep what they have while the way to the switches with cables out of the group
  /// is as long as for the last destination. Calls change() before they do not.
  template <class Change>
  bool find_next(std::uint32_t destination, Choices& choices, const Change& change) {
    const std::uint32_t to = network_.group(destination);
    choose_groups(to, none);
    start_at(destination, within_.order);
    for (std::size_t head = 0; head < within_.order.size(); ++head) reach_inside(within_.order[head], within_.order);
    std::vector<std::uint32_t> to_doors;
    for (const std::uint32_t row : network_.doors[to]) to_doors.push_back(hops_[row]);
    list(within_);
    const Last now = {to, within_.order.size(), within_.arcs.size(), std::move(to_doors)};
    if (now != last_) {
      change();
      outside_is_known_ = false;
      search(destination, choices);
      last_ = {};
      if (choices.order.size() == network_.graph.rows()) {
        std::ranges::stable_sort(choices.order, {}, [&](std::uint32_t row) {
          return network_.group(row) == to ? 0 : network_.group(row) + 1;
        });
        last_ = now;
      }
      list(choices);
    }
    if (last_.group == none) return false;
    std::ranges::copy(within_.order, choices.order.begin());
    std::ranges::copy(within_.first, choices.first.begin());
    std::ranges::copy(within_.arcs, choices.arcs.begin());
    return true;
  }
  /// Of these the rows of the destination's group.
  const Choices& within() const { return within_; }

  /// The group that each group sends to next: `between`, or the destination's without one; another where no cable
  /// leads there.
  void choose_groups(std::uint32_t to, std::uint32_t between) {
    for (std::uint32_t from = 0; from < network_.groups.count; ++from) {
      const std::uint32_t wanted = between == none || from == between ? to : between;
      next_[from] = from == to || network_.joined(from, wanted) ? wanted : network_.joined(from, to) ? to : none;
    }
    for (std::uint32_t from = 0; from < network_.groups.count; ++from) {
      for (std::uint32_t by = 0; next_[from] == none && by < network_.groups.count; ++by) {
        if (by != to && by != from && network_.joined(from, by) && network_.joined(by, to) && next_[by] == to)
          next_[from] = by;
      }
    }
    next_[to] = to;
  }

  /// The group that a group sends to next, of what was chosen last.
  std::uint32_t next(std::uint32_t group) const { return next_[group]; }

  /// Whether on all paths of senders that were found last a packet goes up, to another group and down, each at most
  /// once and in this order, as on a whole Dragonfly+: no packets wait for one another in a circle then.
  bool go_up_across_and_down(const Choices& choices) {
    const std::size_t rows = last_.group == none ? 1 : within_.order.size();
    if (last_.group == none || !outside_is_known_) {
      latest_.assign(network_.graph.rows(), nobody);
      outside_goes_ = go_up_across_and_down(choices, rows, choices.order.size());
      outside_is_known_ = last_.group != none;
      if (!outside_is_known_) return outside_goes_;
      latest_outside_ = latest_;
    }
    latest_ = latest_outside_;
    return outside_goes_ && go_up_across_and_down(within_, 1, rows);
  }

 private:
  /// What the choices of rows outside the destination's group go by.
  struct Last {
    std::uint32_t group = none;
    std::size_t rows = 0;  ///< of the group that have a route
    std::size_t arcs = 0;  ///< that those may choose
    std::vector<std::uint32_t> to_doors = {};
    bool operator==(const Last&) const = default;
  };

  static constexpr std::uint8_t nobody = 255;

  /// The same of the rows at positions `first` to `last` - 1, behind those that lie farther.
  bool go_up_across_and_down(const Choices& choices, std::size_t first, std::size_t last) {
    const SwitchGraph& graph = network_.graph;
    for (std::size_t i = last; i-- > first;) {
      const std::uint32_t row = choices.order[i];
      if (graph.sources_at(row) == 0 && latest_[row] == nobody) continue;
      for (std::uint32_t at = choices.first[i]; at < choices.first[i + 1]; ++at) {
        const SwitchGraph::Arc& arc = graph.arc(choices.arcs[at]);
        const bool from_leaf = graph.sources_at(arc.from) != 0;
        const bool to_leaf = graph.sources_at(arc.to) != 0;
        const bool across = network_.group(arc.from) != network_.group(arc.to);
        if (across == (from_leaf != to_leaf) || (across && from_leaf)) return false;
        const std::uint8_t step = across ? 1 : from_leaf ? 0 : 2;
        if (latest_[row] != nobody && latest_[row] >= step) return false;
        if (graph.sources_at(row) != 0 && step != 0) return false;
        latest_[arc.to] = latest_[arc.to] == nobody ? step : std::max(latest_[arc.to], step);
      }
    }
    return true;
  }

  void start_at(std::uint32_t destination, std::vector<std::uint32_t>& order) {
    std::fill(hops_.begin(), hops_.end(), none);
    std::fill(reached_.begin(), reached_.end(), 0);
    hops_[destination] = 0;
    reached_[network_.group(destination)] = 1;
    order.assign(1, destination);
  }
  void reach(std::uint32_t from, std::uint32_t row, std::vector<std::uint32_t>& order) {
    if (hops_[row] != none) return;
    hops_[row] = hops_[from] + 1;
    ++reached_[network_.group(row)];
    order.push_back(row);
  }
  void reach_inside(std::uint32_t row, std::vector<std::uint32_t>& order) {
    const DragonflyNetwork::Steps& inside = network_.inside;
    const std::uint32_t group = network_.group(row);
    if (reached_[group] == network_.rows[group].size()) return;
    for (std::uint32_t at = inside.first[row]; at < inside.first[row + 1]; ++at) reach(row, inside.to[at], order);
  }

  /// Shortest paths that keep to the order of groups: the rows that have one, nearest first.
  void search(std::uint32_t destination, Choices& choices) {
    start_at(destination, choices.order);
    std::vector<std::uint8_t> wanted(network_.groups.count, 0);  // by group: another sends to it next
    for (std::uint32_t from = 0; from < network_.groups.count; ++from) {
      if (next_[from] != none && next_[from] != from) wanted[next_[from]] = 1;
    }
    const DragonflyNetwork::Steps& across = network_.across;
    for (std::size_t head = 0; head < choices.order.size(); ++head) {
      const std::uint32_t row = choices.order[head];
      reach_inside(row, choices.order);
      if (wanted[network_.group(row)] == 0) continue;
      for (std::uint32_t at = across.first[row]; at < across.first[row + 1]; ++at) {
        if (next_[network_.across_to[at]] == network_.group(row)) reach(row, across.to[at], choices.order);
      }
    }
  }

  /// The arcs that lead on by one of these paths, of each row in their order.
  void list(Choices& choices) {
    const DragonflyNetwork::Steps& inside = network_.inside;
    const DragonflyNetwork::Steps& across = network_.across;
    choices.first.assign(2, 0);
    choices.arcs.clear();
    ++lists_;
    for (std::size_t i = 1; i < choices.order.size(); ++i) {
      const std::uint32_t row = choices.order[i];
      const std::uint32_t nearer = hops_[row] - 1;
      const std::uint32_t* arcs = inside.arc.data() + inside.first[row];
      const std::span<const std::uint8_t> steps = steps_to(nearer, network_.alike[row]);
      const std::size_t listed = choices.arcs.size();
      choices.arcs.resize(listed + steps.size());
      for (std::size_t at = 0; at < steps.size(); ++at) choices.arcs[listed + at] = arcs[steps[at]];
      const std::uint32_t next = next_[network_.group(row)];
      if (next != network_.group(row)) {
        const auto first = network_.across_to.begin() + across.first[row];
        const auto end = network_.across_to.begin() + across.first[row + 1];
        for (auto out = std::lower_bound(first, end, next); out != end && *out == next; ++out) {
          const auto at = static_cast<std::size_t>(out - network_.across_to.begin());
          if (hops_[across.to[at]] == nearer) choices.arcs.push_back(across.arc[at]);
        }
      }
      choices.first.push_back(static_cast<std::uint32_t>(choices.arcs.size()));
    }
  }

  /// Which of the row's steps inside its group lead to rows with so many hops. Rows of a group come one after another
  /// and most have the same steps, so that it is kept.
  std::span<const std::uint8_t> steps_to(std::uint32_t hops, std::uint32_t row) {
    StepsTo& kept = steps_to_[row];
    if (kept.list == lists_ && kept.hops == hops) return kept.steps;
    kept.list = lists_;
    kept.hops = hops;
    kept.steps.clear();
    const DragonflyNetwork::Steps& inside = network_.inside;
    for (std::uint32_t at = inside.first[row]; at < inside.first[row + 1]; ++at)
      if (hops_[inside.to[at]] == hops) kept.steps.push_back(static_cast<std::uint8_t>(at - inside.first[row]));
    return kept.steps;
  }
  struct StepsTo {
    std::uint64_t list = 0;  ///< the number of the list that it is of
    std::uint32_t hops = 0;
    std::vector<std::uint8_t> steps = {};
  };

  const DragonflyNetwork& network_;
  std::vector<StepsTo> steps_to_;             // by DragonflyNetwork::alike
  std::uint64_t lists_ = 0;                   // that were made so far
  std::vector<std::uint32_t> next_;           // by group
  std::vector<std::uint32_t> hops_;           // by row
  std::vector<std::uint32_t> reached_;        // by group: rows that have hops
  std::vector<std::uint8_t> latest_;          // by row: the last step of those that come by
  std::vector<std::uint8_t> latest_outside_;  // those of other groups than the destination's
  bool outside_goes_ = false;                 // whether all of them go up, across and down
  bool outside_is_known_ = false;
  Choices within_;  // of the destination's group
  Last last_;       // what find_next() gave last is of
};

/// Turns in which every switch begins with another way: what one destination gets is then spread as well as what one
/// switch sends.
class TurnsApart {
 public:
  explicit TurnsApart(const DragonflyNetwork& network)
      : turns_(network.graph, levels_above_adapters(network.graph)), shift_(network.graph.rows()) {
    std::vector<std::uint64_t> in_group(network.groups.count, 0);
    for (std::uint32_t row = 0; row < network.graph.rows(); ++row)
      shift_[row] = in_group[network.group(row)]++ * turns_.divider(row);
  }
  template <class Use>
  void deal(std::uint32_t row, std::span<const std::uint32_t> arcs, std::uint64_t number, std::size_t count,
            const Use& use) const {
    turns_.deal(row, arcs, number + shift_[row], count, use);
  }

 private:
  Turns turns_;
  std::vector<std::uint64_t> shift_;  // by row
};

/// Where ClosedTables counts what passes through the rows. Routes from different groups to one meet only there, so that
/// the rows of all other groups share as many places as the largest has rows: they stay in a near cache.
class PlacesOfCounts {
 public:
  explicit PlacesOfCounts(const DragonflyNetwork& network) : network_(network), place_(network.graph.rows()) {
    for (const std::vector<std::uint32_t>& rows : network.rows)
      largest_ = std::max(largest_, static_cast<std::uint32_t>(rows.size()));
    for (std::uint32_t group = 0; group < network.groups.count; ++group) put(group, 0);
  }
  /// From now on the rows of this group, to which routes lead, have places of their own.
  void keep_apart(std::uint32_t group) {
    put(apart_, 0);
    put(group, largest_);
    apart_ = group;
  }
  const std::vector<std::uint32_t>& of_rows() const { return place_; }
  std::size_t count() const { return 2 * std::size_t{largest_}; }

 private:
  void put(std::uint32_t group, std::uint32_t first) {
    for (const std::uint32_t row : network_.rows[group]) place_[row] = first++;
  }

  const DragonflyNetwork& network_;
  std::vector<std::uint32_t> place_;  // by row
  std::uint32_t largest_ = 0;         // rows of a group
  std::uint32_t apart_ = 0;
};

class DragonflyRouter {
 public:
  DragonflyRouter(const Fabric& fabric, const SwitchGraph& graph, DragonflyGroups groups, unsigned threads)
      : fabric_(fabric),
        graph_(graph),
        network_{fabric, graph, std::move(groups)},
        tables_(graph.local_tables(fabric, threads)),
        ways_(network_) {
    network_.find_joined();
  }

  Result<Forwarding> run(const EngineOptions& options) {
    if (!lay_in_turn(options.threads)) {
      const std::optional<Status> refused = lay_by_loads();
      if (refused) return *refused;
    }
    if (over_a_group_ && network_.groups.count > most_groups)
      return refusal("service levels tell at most " + std::to_string(most_groups) + " groups apart, and there are " +
                     std::to_string(network_.groups.count));
    const bool one_lane = !over_a_group_ && (up_across_and_down_ || is_acyclic(graph_, tables_, options.threads));
    tables_.lanes_used = one_lane ? 1 : over_a_group_ ? 3 : 2;
    if (tables_.lanes_used > options.lanes) return lanes_exhausted("dragonfly", tables_.lanes_used, options.lanes);
    if (!one_lane) set_lanes();
    if (is_damaged() && !up_across_and_down_ && !find_lane_loop(fabric_, graph_, tables_, options.threads).empty())
      return refusal("what has failed leaves only steps within a group that can wait in a circle");
    return std::move(tables_);
  }

 private:
  std::uint32_t group(std::uint32_t row) const { return network_.group(row); }
  const std::string& name(std::uint32_t row) const { return fabric_.node(graph_.switch_at(row)).name; }

  static Status refusal(std::string wrong) {
    return {Code::bad_input, "routing with dragonfly", std::move(wrong),
            "try nue, updn or dfsssp, which route any fabric"};
  }

  bool is_damaged() const {
    return std::any_of(fabric_.links().begin(), fabric_.links().end(), [](const Link& link) { return !link.up; });
  }

  /// By turns, or by loads where these are more even. False when turns are out of the question: groups that no cable
  /// joins, several LIDs an adapter, senders that are not joined.
  bool lay_in_turn(unsigned threads) {
    if (!network_.all_joined() || layers_in(fabric_, graph_) != 1) return false;
    constexpr std::size_t neighbours = 8;  // their LIDs lie beside each other: not two threads on one cache line
    struct Worker {
      DragonflyWays ways;
      ClosedTables<TurnsApart> laid;
      PlacesOfCounts places;
      Choices choices = {};
      Choices alone = {};                // to a switch without adapters
      std::vector<Choices> within = {};  // of destinations with the same choices elsewhere, which are laid together
    };
    const TurnsApart turns(network_);
    std::vector<std::unique_ptr<Worker>> workers(parallel::thread_count(threads));
    std::atomic<bool> joined = true;
    std::atomic<bool> in_order = true;
    const auto lay_together = [&](Worker& mine) {
      if (mine.within.empty()) return;
      const auto adapters_at = [&](const Choices& choices) { return graph_.terminals_at(choices.order[0]); };
      const SwitchGraph::Terminal* first = adapters_at(mine.within.front()).data();
      const std::span<const SwitchGraph::Terminal> last = adapters_at(mine.within.back());
      const std::span adapters(first, last.data() + last.size());
      const std::size_t rows = mine.within.front().order.size();
      mine.places.keep_apart(group(mine.within.front().order[0]));
      mine.laid.begin(adapters, mine.places.of_rows(), mine.places.count());
      mine.laid.lay_rows(mine.choices, rows, mine.choices.order.size(), 0, adapters.size());
      for (const Choices& within : mine.within) {
        const auto from = static_cast<std::size_t>(adapters_at(within).data() - first);
        mine.laid.lay_rows(within, 1, rows, from, from + adapters_at(within).size());
      }
      mine.within.clear();
    };
    const auto lay_to = [&](Worker& mine, std::uint32_t row) {
      if (graph_.terminals_at(row).empty()) {
        mine.ways.find(row, none, mine.alone);
        return mine.laid.lay_management(mine.alone);
      }
      const bool by_group = mine.ways.find_next(row, mine.choices, [&] { lay_together(mine); });
      if (sender_not_joined(row, mine.choices) != none) joined = false;
      if (in_order && !mine.ways.go_up_across_and_down(mine.choices)) in_order = false;
      if (!by_group) return mine.laid.lay(mine.choices);
      mine.laid.lay_management(mine.choices);
      mine.within.push_back(mine.ways.within());
    };
    parallel::parallel_for(
        graph_.rows(), neighbours, threads, [&](unsigned worker, std::size_t begin, std::size_t end) {
          for (; begin < end && joined; begin += neighbours) {  // all at once where there is one thread
            std::unique_ptr<Worker>& mine = workers[worker];
            if (!mine)
              mine.reset(new Worker{DragonflyWays(network_), ClosedTables<TurnsApart>(graph_, turns, tables_),
                                    PlacesOfCounts(network_)});
            for (std::size_t row = begin; row < std::min(end, begin + neighbours) && joined; ++row)
              lay_to(*mine, static_cast<std::uint32_t>(row));
            lay_together(*mine);
            mine->laid.enter();
          }
        });
    if (!joined) return false;
    std::vector<std::uint64_t> in_turn(graph_.channels().size(), 0);  // routes, by channel
    for (const std::unique_ptr<Worker>& worker : workers) {
      if (worker) std::ranges::transform(in_turn, worker->laid.load(), in_turn.begin(), std::plus());
    }
    const std::uint64_t largest = in_turn.empty() ? 0 : std::ranges::max(in_turn);
    up_across_and_down_ = in_order;
    const std::uint64_t even = even_load_of_groups(in_turn);
    if (largest <= even + (affordable_passes(graph_) == 0 ? even / 50 : 0)) return true;
    if (largest <= least_load_of_adapters()) return true;
    Forwarding tables_in_turn = std::exchange(tables_, graph_.local_tables(fabric_, threads));
    if (!lay_by_loads() && balance_->largest_load() < largest) return true;
    tables_ = std::move(tables_in_turn);
    return true;
  }

  /// What the fullest channel between groups would carry if those of each two carried as much.
  std::uint64_t even_load_of_groups(const std::vector<std::uint64_t>& load) const {
    std::vector<std::uint64_t> sum(network_.joined_pairs.size(), 0);
    std::vector<std::uint64_t> channels(sum.size(), 0);
    for (std::uint32_t id = 0; id < graph_.channels().size(); ++id) {
      const SwitchGraph::Arc& arc = graph_.arc(graph_.channels()[id].arc);
      const std::size_t pair = network_.pair(group(arc.from), group(arc.to));
      sum[pair] += load[id];
      ++channels[pair];
    }
    std::uint64_t fullest = 0;
    for (std::uint32_t from = 0; from < network_.groups.count; ++from) {
      for (std::uint32_t to = 0; to < network_.groups.count; ++to) {
        const std::size_t pair = network_.pair(from, to);
        if (from != to && channels[pair] != 0)
          fullest = std::max(fullest, (sum[pair] + channels[pair] - 1) / channels[pair]);
      }
    }
    return fullest;
  }

  /// What some cable carries at least, however routes are laid: all that the adapters of a switch send to others, or
  /// get from them, goes over the switch's own cables.
  std::uint64_t least_load_of_adapters() const {
    std::uint64_t senders = 0;
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) senders += graph_.sources_at(row);
    std::uint64_t least = 0;
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      std::uint64_t channels = 0;
      for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) channels += arc.channels;
      if (channels == 0) continue;
      const std::uint64_t here = graph_.terminals_at(row).size();
      const std::uint64_t out = graph_.sources_at(row) * (graph_.terminals().size() - here);
      const std::uint64_t in = (senders - graph_.sources_at(row)) * here;
      least = std::max(least, (std::max(out, in) + channels - 1) / channels);
    }
    return least;
  }

  /// Lays the tables destination after destination; a refusal when some sender is not joined.
  std::optional<Status> lay_by_loads() {
    balance_.emplace(graph_);
    for (const std::uint32_t row : scattered_rows(graph_)) {
      if (const std::uint32_t cut_off = lay(row); cut_off != none)
        return refusal("links failed so that " + name(cut_off) + " and " + name(row) +
                       " are joined only over more than one group between");
    }
    return std::nullopt;
  }

  /// A sender that cables join to the destination and no path of ours does; `none` when there is none.
  std::uint32_t lay(std::uint32_t row) {
    Choices direct;
    ways_.find(row, none, direct);
    const std::vector<std::uint32_t> rest = channels_of_rest(graph_, direct);
    if (graph_.switch_lid(row) != 0) {
      balance_->pick_in_turn(direct, row);
      enter(direct, rest, graph_.switch_lid(row));
    }
    Choices over;
    for (const SwitchGraph::Terminal& terminal : graph_.terminals_at(row)) {
      const std::uint32_t between = layer_of(fabric_, terminal) == 0 ? none : drawn_group(group(row), terminal);
      if (between == none) {
        ways_.choose_groups(group(row), none);  // direct has the paths
      } else {
        ways_.find(row, between, over);
      }
      const Choices& choices = between == none ? direct : over;
      if (const std::uint32_t cut_off = sender_not_joined(row, choices); cut_off != none) return cut_off;
      balance_->pick(choices);
      enter(choices, rest, terminal.lid);
      set_levels(group(row), terminal.lid);
    }
    return none;
  }

  void enter(const Choices& choices, const std::vector<std::uint32_t>& rest, Lid lid) {
    balance_->enter(choices, lid, tables_);
    for (const std::uint32_t channel : rest) {
      const SwitchGraph::Channel& out = graph_.channels()[channel];
      tables_.set_out_port(graph_.arc(out.arc).from, lid, out.port);
    }
  }

  std::uint32_t sender_not_joined(std::uint32_t row, const Choices& choices) const {
    if (choices.order.size() == graph_.rows()) return none;
    std::vector<std::uint32_t> distance;
    graph_.distances_to(row, distance);
    for (const std::uint32_t reached : choices.order) distance[reached] = none;
    for (std::uint32_t from = 0; from < graph_.rows(); ++from) {
      if (distance[from] != none && graph_.sources_at(from) != 0) return from;
    }
    return none;
  }

  /// A group between for a LID: its neighbours in number get the next ones. `none` when there is none.
  std::uint32_t drawn_group(std::uint32_t to, const SwitchGraph::Terminal& terminal) const {
    std::vector<std::uint32_t> between;
    for (std::uint32_t other = 0; other < network_.groups.count; ++other) {
      if (other != to && network_.joined(other, to)) between.push_back(other);
    }
    const auto number = static_cast<std::size_t>(&terminal - graph_.terminals().data());
    const std::size_t layers = std::size_t{1} << fabric_.port(terminal.adapter).lmc;  // the first one goes straight
    const std::size_t turn = number / layers * (layers - 1) + number % layers;
    return between.size() < 2 ? none : between[turn % between.size()];
  }

  /// For the paths found last.
  void set_levels(std::uint32_t to, Lid lid) {
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      const std::uint32_t from = group(row);
      const std::uint32_t next = ways_.next(from);
      if (graph_.sources_at(row) == 0 || from == to || next == to || next == none) continue;
      over_a_group_ = true;
      if (network_.groups.count > most_groups) return;  // refused when all is laid
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(from ^ next));
      tables_.set_service_level(row, 0, lid, static_cast<std::uint8_t>(1 + 2 * bit + (from >> bit & 1U)));
    }
  }

  void set_lanes() {
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      const std::uint32_t ports = fabric_.node(graph_.switch_at(row)).port_count;
      std::vector<std::uint32_t> beyond(ports + 1, none);  // by port: the group behind it; none: an adapter
      for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
        for (std::uint32_t i = 0; i < arc.channels; ++i)
          beyond[graph_.channels()[arc.first_channel + i].port] = group(arc.to);
      }
      for (std::uint32_t in = 0; in <= ports; ++in) {
        const LaneMap map = lanes_from(group(row), in == 0 ? none : beyond[in]);
        for (std::uint32_t out = 1; out <= ports; ++out)
          tables_.set_lane_map(row, static_cast<std::uint8_t>(in), static_cast<std::uint8_t>(out),
                               beyond[out] == none ? LaneMap{} : map);
      }
    }
  }

  /// By service level, of packets in group `here` that came from group `before`; `none`: from an adapter.
  static LaneMap lanes_from(std::uint32_t here, std::uint32_t before) {
    LaneMap map = {};
    if (before == none) return map;
    map[0] = before == here ? 0 : 1;
    for (std::uint32_t level = 1; level < map.size(); ++level) {
      const auto lies_between = [level](std::uint32_t group) {
        return (group >> ((level - 1) / 2) & 1U) != ((level - 1) & 1U);
      };
      const bool again = lies_between(before);
      map[level] = static_cast<std::uint8_t>(before == here ? (again ? 1 : 0) : (again ? 2 : 1));
    }
    return map;
  }

  const Fabric& fabric_;
  const SwitchGraph& graph_;
  DragonflyNetwork network_;
  Forwarding tables_;
  std::optional<Balance> balance_;  // of routes by loads
  DragonflyWays ways_;
  bool up_across_and_down_ = false;  // every route is known to go so
  bool over_a_group_ = false;
};

}  // namespace

Result<Forwarding> route_dragonfly(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  std::optional<DragonflyGroups> groups = find_dragonfly_groups(fabric, graph);
  if (!groups)
    return Status(Code::bad_input, "routing with dragonfly", "the fabric is not a Dragonfly or Dragonfly+",
                  "try nue, updn or dfsssp, which route any fabric");
  return DragonflyRouter(fabric, graph, *std::move(groups), options.threads).run(options);
}

}  // namespace holdfast::fabric
