#include "fabric/routing/engines/ways_down.h"

#include <algorithm>

namespace holdfast::fabric {
namespace {

/// What comes into leaves beside the ways down to their adapters.
class BesideWays {
 public:
  BesideWays(const SwitchGraph& graph, const std::vector<std::uint32_t>& level)
      : graph_(graph), level_(level), shared_(graph.rows(), 0) {}

  /// By channel of `into`, all those that lead into a leaf: the mean number of routes a destination that come by it
  /// from switches which share other switches above with the leaf than the one on the way down.
  const std::vector<double>& routes(const std::vector<std::uint32_t>& into) {
    above_.clear();
    for (const std::uint32_t channel : into) above_.push_back(graph_.arc(graph_.channels()[channel].arc).from);
    if (above_ == known_for_)
      return routes_;  // of a leaf beside the one before, which sends nothing beside ways itself
    for_all_below([&](std::size_t /*channel*/, std::uint32_t row) { ++shared_[row]; });
    routes_.assign(into.size(), 0);
    const auto all = static_cast<double>(into.size());
    for_all_below([&](std::size_t channel, std::uint32_t row) {
      const double share = shared_[row];
      routes_[channel] += graph_.sources_at(row) / share * (all - share) / all;
    });
    for_all_below([&](std::size_t /*channel*/, std::uint32_t row) { shared_[row] = 0; });
    known_for_ = above_;
    return routes_;
  }

 private:
  template <class Use>
  void for_all_below(const Use& use) const {
    for (std::size_t channel = 0; channel < above_.size(); ++channel) {
      for (const SwitchGraph::Arc& arc : graph_.arcs_of(above_[channel])) {
        if (level_[arc.to] < level_[arc.from]) use(channel, arc.to);
      }
    }
  }

  const SwitchGraph& graph_;
  const std::vector<std::uint32_t>& level_;
  std::vector<std::uint32_t> above_;      // by channel into the leaf at hand
  std::vector<std::uint32_t> known_for_;  // what routes_ are for
  std::vector<double> routes_;
  std::vector<std::uint32_t> shared_;  // by row: channels into the leaf from switches that have this row below them too
};

}  // namespace

WaysDown::WaysDown(const SwitchGraph& graph, const std::vector<std::uint32_t>& level) {
  std::vector<std::vector<std::uint32_t>> into(graph.rows());  // channels that lead down to a row
  for (std::uint32_t id = 0; id < graph.arcs().size(); ++id) {
    const SwitchGraph::Arc& arc = graph.arc(id);
    if (level[arc.from] <= level[arc.to]) continue;
    for (std::uint32_t i = 0; i < arc.channels; ++i) into[arc.to].push_back(arc.first_channel + i);
  }
  std::vector<std::uint32_t> dealt(graph.channels().size());  // destinations whose one way down it is on, or as many
  BesideWays beside(graph, level);
  for (std::uint32_t row = 0; row < graph.rows(); ++row) {
    const auto adapters = static_cast<double>(graph.terminals_at(row).size());
    if (adapters == 0) continue;
    const std::vector<double>& routes = beside.routes(into[row]);
    for (std::size_t i = 0; i < routes.size(); ++i)
      dealt[into[row][i]] = static_cast<std::uint32_t>(routes[i] * adapters / graph.source_count());
  }
  for (const SwitchGraph::Terminal& terminal : graph.terminals()) {
    first_.push_back(static_cast<std::uint32_t>(channels_.size()));
    for (std::uint32_t row = terminal.row; !into[row].empty();) {
      const std::uint32_t channel =
          *std::ranges::min_element(into[row], {}, [&](std::uint32_t one) { return dealt[one]; });
      ++dealt[channel];
      channels_.push_back(channel);
      row = graph.arc(graph.channels()[channel].arc).from;
    }
  }
  first_.push_back(static_cast<std::uint32_t>(channels_.size()));
}

}  // namespace holdfast::fabric
