#include <algorithm>
#include <numeric>

#include "core/parallel/parallel_for.h"
#include "fabric/routing/engines/fat_tree.h"
#include "fabric/routing/engines/native_engines.h"
#include "fabric/routing/engines/turns.h"

// Dmodc: J. Gliksberg, A. Capra, A. Louvet, P. J. Garcia, D. Sohier, "High-Quality Fault-Resiliency in Fat-Tree
// Networks", HOTI 2019 (arXiv:2211.11817), and "High-Quality Fault Resiliency in Fat Trees", IEEE Micro 40(1), 2020.
// For every destination switch one sweep up finds who can go down to it, one sweep from the top how near the others are
// by going up first; a switch then has arcs to choose from, and arithmetic on the destination's number does (turns.h).
// No loads are kept, so destinations are independent of one another: threads share them, and tables do not depend on
// how.
//
// Who can go down, goes down, and the next one can too; everyone else goes up. So no packet turns from down to up.

namespace holdfast::fabric {
namespace {

/// The arcs that lead up, by row.
class ArcsUp {
 public:
  ArcsUp(const SwitchGraph& graph, const std::vector<std::uint32_t>& level) {
    for (std::uint32_t row = 0; row < graph.rows(); ++row) {
      first_.push_back(static_cast<std::uint32_t>(arcs_.size()));
      for (std::uint32_t id = graph.first_arc(row); id < graph.first_arc(row + 1); ++id) {
        if (level[graph.arc(id).to] > level[row]) arcs_.push_back({id, graph.arc(id).to});
      }
    }
    first_.push_back(static_cast<std::uint32_t>(arcs_.size()));
  }
  struct Step {
    std::uint32_t arc;
    std::uint32_t to;
  };
  std::span<const Step> of(std::uint32_t row) const {
    return {arcs_.data() + first_[row], first_[row + 1] - first_[row]};
  }

 private:
  std::vector<Step> arcs_;
  std::vector<std::uint32_t> first_;
};

/// What does not change from destination to destination.
struct LevelledTree {
  const SwitchGraph& graph;
  ArcsUp up;
  Turns turns;
  std::vector<std::uint32_t> from_top;  ///< rows, the highest level first

  LevelledTree(const SwitchGraph& of, const std::vector<std::uint32_t>& level)
      : graph(of), up(of, level), turns(of, level), from_top(of.rows()) {
    std::iota(from_top.begin(), from_top.end(), 0U);
    std::stable_sort(from_top.begin(), from_top.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return level[a] > level[b]; });
  }
};

/// Routes to one switch after another; one to a thread.
class Destination {
 public:
  Destination(const LevelledTree& tree, Forwarding& tables)
      : tree_(tree), tables_(tables), hops_(tree.graph.rows()), goes_down_(tree.graph.rows()) {}

  /// Fills the tables for the switch's own LID and those of its adapters. A sender that cables join to the adapters and
  /// no way up and down does; `none` when there is none.
  std::uint32_t lay(std::uint32_t row) {
    to_ = row;
    find_ways_down();
    reached_ = 1;
    for (std::size_t i = 0; i < down_.size();) {
      allowed_.clear();
      const std::uint32_t from = down_[i].from;
      for (; i < down_.size() && down_[i].from == from; ++i) allowed_.push_back(down_[i].arc);
      enter(from);
    }
    for (const std::uint32_t from : tree_.from_top) {
      if (goes_down_[from] == 0) go_up(from);
    }
    return reached_ == tree_.graph.rows() ? none : join_rest();
  }

 private:
  struct Down {
    std::uint32_t from;
    std::uint32_t arc;
  };

  void find_ways_down() {
    std::fill(hops_.begin(), hops_.end(), none);
    std::fill(goes_down_.begin(), goes_down_.end(), 0);
    down_.clear();
    queue_.assign(1, to_);
    hops_[to_] = 0;
    goes_down_[to_] = 1;
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      for (const ArcsUp::Step& step : tree_.up.of(queue_[head])) {
        down_.push_back({step.to, tree_.graph.arc(step.arc).reverse});
        if (goes_down_[step.to] != 0) continue;
        goes_down_[step.to] = 1;
        hops_[step.to] = hops_[queue_[head]] + 1;
        queue_.push_back(step.to);
      }
    }
    std::sort(down_.begin(), down_.end(),
              [](const Down& a, const Down& b) { return a.from != b.from ? a.from < b.from : a.arc < b.arc; });
  }

  void go_up(std::uint32_t from) {
    std::uint32_t least = none;
    for (const ArcsUp::Step& step : tree_.up.of(from)) least = std::min(least, hops_[step.to]);
    if (least == none) return;
    hops_[from] = least + 1;
    allowed_.clear();
    for (const ArcsUp::Step& step : tree_.up.of(from)) {
      if (hops_[step.to] == least) allowed_.push_back(step.arc);
    }
    enter(from);
  }

  void enter(std::uint32_t from) {
    ++reached_;
    const SwitchGraph& graph = tree_.graph;
    const auto choices = static_cast<std::uint32_t>(allowed_.size());
    std::uint8_t* table = tables_.table(from);
    if (const Lid own = graph.switch_lid(to_); own != 0)
      table[own] = port(tree_.turns.channel_of(allowed_[to_ % choices], to_ / choices));
    const std::span<const SwitchGraph::Terminal> terminals = graph.terminals_at(to_);
    const auto number = static_cast<std::uint64_t>(terminals.data() - graph.terminals().data());
    const auto use = [&](std::size_t first, std::size_t last, std::size_t choice, std::uint64_t round) {
      std::uint8_t out = graph.only_port(allowed_[choice]);
      if (out == 0) out = port(tree_.turns.channel_of(allowed_[choice], round));
      for (std::size_t at = first; at < last; ++at) table[terminals[at].lid] = out;
    };
    if (goes_down_[from] != 0 && choices > 1) return deal_down(from, number, terminals.size(), use);
    tree_.turns.deal(from, allowed_, number, terminals.size(), use);
  }

  /// Where there are several ways down, which no switch of a complete tree has. There all destinations that come to a
  /// switch are alike modulo its divider, since the switches below have dealt them apart by what they differ in. Here
  /// they come together again with one quotient by the divider, which would give them all the same way. So the
  /// remainder counts, too; and where it only repeats the choice of a neighbour of the destination (of three ways down,
  /// those that went up by every sixth), the part of that choice that is left: its place among all that there were.
  template <class Use>
  void deal_down(std::uint32_t from, std::uint64_t number, std::size_t count, const Use& use) {
    const std::uint64_t divider = tree_.turns.divider(from);
    const std::uint64_t ways = allowed_.size();
    const std::uint64_t up = std::max<std::size_t>(tree_.up.of(to_).size(), 1);
    for (std::size_t at = 0; at < count; ++at) {
      const std::uint64_t n = number + at;
      const std::uint64_t turn = n / divider;
      const std::uint64_t choice = turn + n % divider % ways + n % up * ways / up;
      use(at, at + 1, choice % ways, turn);
    }
  }

  std::uint8_t port(std::uint32_t channel) const { return tree_.graph.channels()[channel].port; }

  /// Switches that no way up and down joins, from top to top of a tree: management packets alone go there.
  std::uint32_t join_rest() {
    Choices choices;
    for (std::uint32_t row = 0; row < tree_.graph.rows(); ++row) {
      if (hops_[row] != none) choices.order.push_back(row);
    }
    std::uint32_t cut_off = none;
    for (const std::uint32_t channel : channels_of_rest(tree_.graph, choices)) {
      const SwitchGraph::Channel& out = tree_.graph.channels()[channel];
      const std::uint32_t from = tree_.graph.arc(out.arc).from;
      if (tree_.graph.sources_at(from) != 0 && !tree_.graph.terminals_at(to_).empty()) cut_off = from;
      if (const Lid own = tree_.graph.switch_lid(to_); own != 0) tables_.table(from)[own] = out.port;
      for (const SwitchGraph::Terminal& terminal : tree_.graph.terminals_at(to_))
        tables_.table(from)[terminal.lid] = out.port;
    }
    return cut_off;
  }

  const LevelledTree& tree_;
  Forwarding& tables_;
  std::uint32_t to_ = 0;
  std::size_t reached_ = 0;
  std::vector<std::uint32_t> hops_;      // by row
  std::vector<std::uint8_t> goes_down_;  // by row
  std::vector<std::uint32_t> queue_;
  std::vector<Down> down_;              // sorted by the row that goes down
  std::vector<std::uint32_t> allowed_;  // arcs of one row
};

}  // namespace

Result<Forwarding> route_dmodc(const Fabric& fabric, const SwitchGraph& graph, const EngineOptions& options) {
  const auto level = fat_tree_levels(fabric, graph, "dmodc", options);
  if (!level.ok()) return level.status();
  const LevelledTree tree(graph, level.value());
  Forwarding tables = graph.local_tables(fabric, options.threads);
  std::vector<std::uint32_t> cut_off(graph.rows(), none);
  constexpr std::size_t neighbours = 8;  // their LIDs lie beside each other: not two threads on one cache line
  parallel::parallel_for(graph.rows(), neighbours, options.threads,
                         [&](unsigned /*worker*/, std::size_t begin, std::size_t end) {
                           Destination destination(tree, tables);
                           for (std::size_t row = begin; row < end; ++row)
                             cut_off[row] = destination.lay(static_cast<std::uint32_t>(row));
                         });
  const auto cut = std::find_if(cut_off.begin(), cut_off.end(), [](std::uint32_t row) { return row != none; });
  if (cut != cut_off.end()) return no_way_up_and_down(fabric, graph, "dmodc", *cut);
  tables.know_up_down(level.value());
  return tables;
}

}  // namespace holdfast::fabric
