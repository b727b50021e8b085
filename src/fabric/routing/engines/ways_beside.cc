#include "fabric/routing/engines/ways_beside.h"

#include <algorithm>
#include <tuple>

namespace holdfast::fabric {

/// Whether the old entry of a switch that lost its way led up, over a cable that may be dead.
bool WaysBeside::led_up(std::uint32_t row) const {
  const PortId far = mended_.old_far_end(row);
  if (far == none) return false;
  const std::uint32_t next = tables_.row_of(mended_.fabric().port(far).node);
  return next != none && up_down_->level(next) > up_down_->level(row);
}

bool WaysBeside::step_aside_by_levels(std::uint32_t row, const WayEnd& end) {
  const bool went_up = led_up(row);
  std::uint32_t best = none;
  std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> least;
  const bool traffic = end.adapter;  // where there is none, entries need not be counted
  const bool in_use = traffic && mended_.busy(row, end.lid);
  for (const bool up : {true, false}) {
    if (best != none || (up && !went_up)) continue;
    for (const std::uint32_t id : ways_of(row)[up ? 1 : 0]) {
      if (!up && turns_up(id, end)) continue;
      const std::uint32_t to = graph_.arc(id).to;
      const std::uint32_t hops = mended_.hops_from_here(to, end.lid);
      if (hops == none || (best != none && hops > std::get<0>(least))) continue;
      const std::uint32_t channel = mended_.best_channel(id);
      const std::uint32_t beside = taken_in_[to] == mended_.round() ? taken_[to] : 0;
      const std::tuple cost(hops, beside + (in_use ? mended_.busy_lids_of(channel) : 0),
                            traffic ? mended_.lids_of(channel) : 0);
      if ((best != none && cost >= least) || (up && turns_up(id, end))) continue;
      best = id;
      least = cost;
    }
  }
  if (best == none) return false;
  const std::uint32_t to = graph_.arc(best).to;
  taken_[to] = taken_in_[to] == mended_.round() ? taken_[to] + 1 : 1;
  taken_in_[to] = mended_.round();
  mended_.set_broken(row, false);
  mended_.note(row, std::get<0>(least) + 1);
  mended_.enter(row, end.lid, best);
  return true;
}

bool WaysBeside::step_aside_in_lane(std::uint32_t row, const WayEnd& end, AcyclicDependencies& allowed) {
  std::vector<std::array<std::uint32_t, 3>> ways;  // hops from there, LIDs, arc
  for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) {
    const std::uint32_t hops = mended_.hops_from_here(graph_.arc(id).to, end.lid);
    if (hops != none) ways.push_back({hops, mended_.lids_of(mended_.best_channel(id)), id});
  }
  std::sort(ways.begin(), ways.end());
  for (const auto& [hops, lids, id] : ways) {
    if (!admit_for_senders(row, id, end, allowed)) continue;
    mended_.set_broken(row, false);
    mended_.note(row, hops + 1);
    mended_.enter(row, end.lid, id);
    return true;
  }
  return false;
}

/// Adds the dependencies of the whole way that begins with this arc, and of those who send to its first switch, or
/// none of them.
bool WaysBeside::admit_for_senders(std::uint32_t row, std::uint32_t id, const WayEnd& end,
                                   AcyclicDependencies& allowed) {
  const std::size_t mark = guard_.mark();
  if (!guard_.admit(id, end.lid, end.row, allowed)) return false;
  for (const SwitchGraph::Arc& arc : graph_.arcs_of(row)) {
    if (sends_[arc.to] == 0 || !mended_.sends_to(arc, end.lid)) continue;
    if (!guard_.add(arc.reverse, id, mark, allowed)) return false;
  }
  return true;
}

void WaysBeside::find_senders(Lid lid) {
  sends_.assign(graph_.rows(), 0);
  for (std::uint32_t row : sources_) {
    while (sends_[row] == 0) {
      sends_[row] = 1;
      const std::uint32_t arc = mended_.arcs().next(row, lid);
      if (arc == none) break;
      row = graph_.arc(arc).to;
    }
  }
}

/// The arcs out of a switch that lead down, and those that lead up; sorted when it is first looked at.
const std::array<std::vector<std::uint32_t>, 2>& WaysBeside::ways_of(std::uint32_t row) {
  if (ways_.empty()) ways_.resize(graph_.rows());
  std::array<std::vector<std::uint32_t>, 2>& ways = ways_[row];
  if (!ways[0].empty() || !ways[1].empty()) return ways;
  for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id)
    ways[up_down_->leads_up(id) ? 1 : 0].push_back(id);
  return ways;
}

bool WaysBeside::turns_up(std::uint32_t id, const WayEnd& end) const {
  bool down = false;
  for (std::uint32_t steps = 0; id != none && steps <= graph_.rows(); ++steps) {
    if (down && up_down_->leads_up(id)) return true;
    down = !up_down_->leads_up(id);
    id = graph_.arc(id).to == end.row ? none : mended_.arcs().next(graph_.arc(id).to, end.lid);
  }
  return false;
}

}  // namespace holdfast::fabric
