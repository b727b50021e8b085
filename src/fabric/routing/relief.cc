#include "fabric/routing/relief.h"

namespace holdfast::fabric {

Relief::Relief(const SwitchGraph& graph, Balance& balance, Forwarding& tables)
    : graph_(graph), balance_(balance), tables_(tables), channel_at_(graph.rows() * 256U, none) {
  for (std::uint32_t id = 0; id < graph.channels().size(); ++id) {
    const SwitchGraph::Channel& channel = graph.channels()[id];
    channel_at_[graph.arc(channel.arc).from * 256U + channel.port] = id;
  }
}

std::uint64_t affordable_passes(const SwitchGraph& graph, std::uint64_t affordable) {
  constexpr std::uint64_t enough = 8;
  const std::uint64_t in_a_pass = std::uint64_t{graph.terminals().size()} * graph.arcs().size() / 2;
  return std::min(enough, affordable / std::max<std::uint64_t>(in_a_pass, 1));
}

double Relief::sum_of_cubes() const {
  double sum = 0;
  for (const std::uint32_t channel : touched_) {
    const auto load = static_cast<double>(balance_.load(channel));
    sum += load * load * load;
  }
  return sum;
}

void Relief::take_away(const Choices& before, Lid lid) {
  before_.assign(before.order.size(), none);
  for (std::size_t i = 1; i < before.order.size(); ++i) before_[i] = channel_of(before.order[i], lid);
  balance_.picks() = before_;
  balance_.uncount(before);
}

bool Relief::keep_better(const Choices& before, const Choices& after) {
  std::vector<std::uint32_t>& picks = balance_.picks();
  if (picks == before_ && before.order == after.order) return true;
  touched_.assign(picks.begin() + 1, picks.end());
  touched_.insert(touched_.end(), before_.begin() + 1, before_.end());
  const double sum_after = sum_of_cubes();
  balance_.uncount(after);
  std::swap(picks, before_);
  balance_.count(before);
  if (sum_after >= sum_of_cubes()) return true;
  balance_.uncount(before);
  std::swap(picks, before_);
  balance_.count(after);
  return false;
}

}  // namespace holdfast::fabric
