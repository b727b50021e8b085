#include <algorithm>
#include <array>
#include <bit>

#include "fabric/routing/engines/balance.h"
#include "fabric/routing/engines/dragonfly_groups.h"
#include "fabric/routing/engines/lane_loops.h"
#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/engines/native_engines.h"

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

namespace holdfast::fabric {
namespace {

constexpr std::uint32_t most_groups = 128;

class DragonflyRouter {
 public:
  DragonflyRouter(const Fabric& fabric, const SwitchGraph& graph, DragonflyGroups groups)
      : fabric_(fabric),
        graph_(graph),
        groups_(std::move(groups)),
        tables_(graph.local_tables(fabric)),
        balance_(graph),
        joined_(std::size_t{groups_.count} * groups_.count, 0),
        next_(groups_.count),
        hops_(graph.rows()) {
    for (const SwitchGraph::Arc& arc : graph.arcs()) joined_[pair(group(arc.from), group(arc.to))] = 1;
  }

  Result<Forwarding> run(const EngineOptions& options) {
    for (const std::uint32_t row : scattered_rows(graph_)) {
      if (!lay(row))
        return refusal("links failed so that " + name(trouble_) + " and " + name(row) +
                       " are joined only over more than one group between");
    }
    if (over_a_group_ && groups_.count > most_groups)
      return refusal("service levels tell at most " + std::to_string(most_groups) + " groups apart, and there are " +
                     std::to_string(groups_.count));
    const bool one_lane = !over_a_group_ && is_acyclic(graph_, tables_, options.threads);
    tables_.lanes_used = one_lane ? 1 : over_a_group_ ? 3 : 2;
    if (tables_.lanes_used > options.lanes) return lanes_exhausted("dragonfly", tables_.lanes_used, options.lanes);
    if (!one_lane) set_lanes();
    if (is_damaged() && !find_lane_loop(fabric_, graph_, tables_, options.threads).empty())
      return refusal("what has failed leaves only steps within a group that can wait in a circle");
    return std::move(tables_);
  }

 private:
  std::uint32_t group(std::uint32_t row) const { return groups_.of_row[row]; }
  std::size_t pair(std::uint32_t a, std::uint32_t b) const { return std::size_t{a} * groups_.count + b; }
  bool joined(std::uint32_t a, std::uint32_t b) const { return joined_[pair(a, b)] != 0; }
  const std::string& name(std::uint32_t row) const { return fabric_.node(graph_.switch_at(row)).name; }

  static Status refusal(std::string wrong) {
    return {Code::bad_input, "routing with dragonfly", std::move(wrong),
            "try nue, updn or dfsssp, which route any fabric"};
  }

  bool is_damaged() const {
    return std::any_of(fabric_.links().begin(), fabric_.links().end(), [](const Link& link) { return !link.up; });
  }

  /// False when cables join a sender to the destination and no path of ours does: it is trouble_ then.
  bool lay(std::uint32_t row) {
    Choices direct;
    choose_groups(group(row), none);
    find_choices(row, direct);
    const std::vector<std::uint32_t> rest = channels_of_rest(graph_, direct);
    if (graph_.switch_lid(row) != 0) {
      balance_.pick_in_turn(direct, row);
      enter(direct, rest, graph_.switch_lid(row));
    }
    Choices over;
    for (const SwitchGraph::Terminal& terminal : graph_.terminals_at(row)) {
      const std::uint32_t layer = terminal.lid - fabric_.port(terminal.adapter).lid;
      const std::uint32_t between = layer == 0 ? none : drawn_group(group(row), terminal);
      choose_groups(group(row), between);
      if (between != none) find_choices(row, over);
      const Choices& choices = between == none ? direct : over;
      if (!joins_senders(row, choices)) return false;
      balance_.pick(choices);
      enter(choices, rest, terminal.lid);
      set_levels(group(row), terminal.lid);
    }
    return true;
  }

  void enter(const Choices& choices, const std::vector<std::uint32_t>& rest, Lid lid) {
    balance_.enter(choices, lid, tables_);
    for (const std::uint32_t channel : rest) {
      const SwitchGraph::Channel& out = graph_.channels()[channel];
      tables_.set_out_port(graph_.arc(out.arc).from, lid, out.port);
    }
  }

  bool joins_senders(std::uint32_t row, const Choices& choices) {
    if (choices.order.size() == graph_.rows()) return true;
    std::vector<std::uint32_t> distance;
    graph_.distances_to(row, distance);
    for (const std::uint32_t reached : choices.order) distance[reached] = none;
    for (std::uint32_t from = 0; from < graph_.rows(); ++from) {
      if (distance[from] == none || graph_.sources_at(from) == 0) continue;
      trouble_ = from;
      return false;
    }
    return true;
  }

  /// A group between for a LID: its neighbours in number get the next ones. `none` when there is none.
  std::uint32_t drawn_group(std::uint32_t to, const SwitchGraph::Terminal& terminal) const {
    std::vector<std::uint32_t> between;
    for (std::uint32_t other = 0; other < groups_.count; ++other) {
      if (other != to && joined(other, to)) between.push_back(other);
    }
    const auto number = static_cast<std::size_t>(&terminal - graph_.terminals().data());
    const std::size_t layers = std::size_t{1} << fabric_.port(terminal.adapter).lmc;  // the first one goes straight
    const std::size_t turn = number / layers * (layers - 1) + number % layers;
    return between.size() < 2 ? none : between[turn % between.size()];
  }

  /// The group that each group sends to next: `between`, or the destination's without one; another where no cable
  /// leads there.
  void choose_groups(std::uint32_t to, std::uint32_t between) {
    for (std::uint32_t from = 0; from < groups_.count; ++from) {
      const std::uint32_t wanted = between == none || from == between ? to : between;
      next_[from] = from == to || joined(from, wanted) ? wanted : joined(from, to) ? to : none;
    }
    for (std::uint32_t from = 0; from < groups_.count; ++from) {
      for (std::uint32_t by = 0; next_[from] == none && by < groups_.count; ++by) {
        if (by != to && by != from && joined(from, by) && joined(by, to) && next_[by] == to) next_[from] = by;
      }
    }
    next_[to] = to;
  }

  /// Shortest paths that keep to the order of groups.
  void find_choices(std::uint32_t destination, Choices& choices) {
    const auto allowed = [this](const SwitchGraph::Arc& arc) {
      return group(arc.from) == group(arc.to) || next_[group(arc.from)] == group(arc.to);
    };
    std::fill(hops_.begin(), hops_.end(), none);
    hops_[destination] = 0;
    choices.order.assign(1, destination);
    for (std::size_t head = 0; head < choices.order.size(); ++head) {
      const std::uint32_t row = choices.order[head];
      for (const SwitchGraph::Arc& out : graph_.arcs_of(row)) {
        if (hops_[out.to] != none || !allowed(graph_.arc(out.reverse))) continue;
        hops_[out.to] = hops_[row] + 1;
        choices.order.push_back(out.to);
      }
    }
    choices.first.assign(2, 0);
    choices.arcs.clear();
    for (std::size_t i = 1; i < choices.order.size(); ++i) {
      const std::uint32_t row = choices.order[i];
      for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) {
        const SwitchGraph::Arc& arc = graph_.arc(id);
        if (hops_[arc.to] != none && hops_[arc.to] + 1 == hops_[row] && allowed(arc)) choices.arcs.push_back(id);
      }
      choices.first.push_back(static_cast<std::uint32_t>(choices.arcs.size()));
    }
  }

  /// For paths by way of next_.
  void set_levels(std::uint32_t to, Lid lid) {
    for (std::uint32_t row = 0; row < graph_.rows(); ++row) {
      const std::uint32_t from = group(row);
      if (graph_.sources_at(row) == 0 || from == to || next_[from] == to || next_[from] == none) continue;
      over_a_group_ = true;
      if (groups_.count > most_groups) return;  // refused when all is laid
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(from ^ next_[from]));
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
  DragonflyGroups groups_;
  Forwarding tables_;
  Balance balance_;
  std::vector<std::uint8_t> joined_;  // by pair of groups: whether a cable leads from one to the other
  std::vector<std::uint32_t> next_;   // by group, for the LID at hand
  std::vector<std::uint32_t> hops_;   // by row, for the LID at hand
  std::uint32_t trouble_ = none;
  bool over_a_group_ = false;
};

}  // namespace

Result<Forwarding> route_dragonfly(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  std::optional<DragonflyGroups> groups = find_dragonfly_groups(fabric, graph);
  if (!groups)
    return Status(Code::bad_input, "routing with dragonfly", "the fabric is not a Dragonfly or Dragonfly+",
                  "try nue, updn or dfsssp, which route any fabric");
  return DragonflyRouter(fabric, graph, *std::move(groups)).run(options);
}

}  // namespace holdfast::fabric
