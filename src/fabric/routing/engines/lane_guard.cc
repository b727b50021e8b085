#include "fabric/routing/engines/lane_guard.h"

namespace holdfast::fabric {

bool LaneGuard::admit(std::uint32_t id, Lid lid, std::uint32_t to, AcyclicDependencies& allowed) {
  const std::size_t before = mark();
  for (std::uint32_t at = id; graph_.arc(at).to != to;) {
    const std::uint32_t next = arcs_.next(graph_.arc(at).to, lid);
    if (!add(at, next, before, allowed)) return false;
    at = next;
  }
  return true;
}

bool LaneGuard::add(std::uint32_t from, std::uint32_t to, std::size_t mark, AcyclicDependencies& allowed) {
  const bool fresh = !allowed.has(from, to);
  if (allowed.add(from, to)) {
    if (fresh) added_.emplace_back(from, to);
    return true;
  }
  refused_ = true;
  for (; added_.size() > mark; added_.pop_back()) allowed.remove(added_.back().first, added_.back().second);
  return false;
}

void LaneGuard::drop_idle(Lid lid, const std::vector<std::uint32_t>& sources, AcyclicDependencies& allowed) {
  std::vector<std::uint8_t> busy(graph_.rows(), 0);
  for (std::uint32_t row : sources) {
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

}  // namespace holdfast::fabric
