#include "fabric/routing/relief.h"

namespace holdfast::fabric {

Relief::Relief(const SwitchGraph& graph, Balance& balance, Forwarding& tables)
    : graph_(graph), balance_(balance), tables_(tables), channel_at_(graph.rows() * 256U, none) {
  for (std::uint32_t id = 0; id < graph.channels().size(); ++id) {
    const SwitchGraph::Channel& channel = graph.channels()[id];
    channel_at_[graph.arc(channel.arc).from * 256U + channel.port] = id;
  }
}

std::uint64_t affordable_passes(const SwitchGraph& graph) {
  constexpr std::uint64_t affordable = 300'000;  // arcs looked at
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

bool Relief::improve(const Choices& choices, Lid lid) {
  std::vector<std::uint32_t>& picks = balance_.picks();
  before_.assign(choices.order.size(), none);
  for (std::size_t i = 1; i < choices.order.size(); ++i)
    before_[i] = channel_at_[choices.order[i] * 256U + tables_.out_port(choices.order[i], lid)];
  picks = before_;
  balance_.uncount(choices);
  balance_.pick(choices);
  if (picks == before_) return false;
  touched_.clear();
  for (std::size_t i = 1; i < picks.size(); ++i) {
    touched_.push_back(picks[i]);
    if (picks[i] != before_[i]) touched_.push_back(before_[i]);
  }
  const double sum_after = sum_of_cubes();
  balance_.uncount(choices);
  std::swap(picks, before_);
  balance_.count(choices);
  if (sum_after >= sum_of_cubes()) return false;
  balance_.uncount(choices);
  std::swap(picks, before_);
  balance_.count(choices);
  balance_.enter(choices, lid, tables_);
  return true;
}

}  // namespace holdfast::fabric
