#include "simulate/packet/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "simulate/packet/crossing.h"

namespace holdfast::simulate {
namespace {

Status refuse_timeline(std::string wrong) {
  return {Code::bad_input, "checking what happens during the traffic", std::move(wrong), "correct the faults"};
}

void join_outages(std::vector<Timeline::Outage>& outages) {
  std::sort(outages.begin(), outages.end(), [](const Timeline::Outage& a, const Timeline::Outage& b) {
    return std::tie(a.link, a.down, a.up) < std::tie(b.link, b.down, b.up);
  });
  std::vector<Timeline::Outage> joined;
  for (const Timeline::Outage& outage : outages) {
    if (!joined.empty() && joined.back().link == outage.link && outage.down <= joined.back().up)
      joined.back().up = std::max(joined.back().up, outage.up);
    else
      joined.push_back(outage);
  }
  outages = std::move(joined);
}

constexpr std::size_t most_slow_links = 1'000;  // so that their paces can be numbered in 11 bits

/// The pace that is left, rounded up; none: it is out of bounds.
std::optional<Pace> slowed(Pace whole, const Timeline::Slowness& slow) {
  const double bound = static_cast<double>(whole.flit_ps) / static_cast<double>(slow.numerator);
  if (bound * static_cast<double>(slow.denominator) > static_cast<double>(slowest_flit_ps)) return std::nullopt;
  const std::uint64_t flit = static_cast<std::uint64_t>(whole.flit_ps) * slow.denominator;  // below 2^32 and 2^31
  return Pace{static_cast<Time>((flit + slow.numerator - 1) / slow.numerator)};
}

}  // namespace

std::vector<RateChange> rate_changes(const Timeline& timeline, const fabric::Fabric& fabric,
                                     const Parameters& parameters) {
  std::set<std::pair<fabric::LinkId, Time>> moments;
  for (const Timeline::Slowness& slow : timeline.slow)
    for (const Time at : {slow.from, slow.to})
      if (at != never) moments.insert({slow.link, at});
  std::vector<RateChange> changes;
  for (const auto& [link, at] : moments) {
    const Pace whole = parameters.link_pace(fabric.link(link).rate);
    Pace pace = whole;
    for (const Timeline::Slowness& slow : timeline.slow)
      if (slow.link == link && slow.from <= at && at < slow.to)
        pace.flit_ps = std::max(pace.flit_ps, slowed(whole, slow).value_or(whole).flit_ps);
    changes.push_back({at, link, pace});
  }
  return changes;
}

double damage_probability(double bit_error_rate, std::uint32_t bytes) {
  return -std::expm1(8.0 * bytes * std::log1p(-bit_error_rate));
}

Result<Timeline> check(Timeline timeline, const fabric::Fabric& fabric, const fabric::Forwarding& tables,
                       const Parameters& parameters) {
  const std::size_t links = fabric.links().size();
  const auto fits = [&](const fabric::Forwarding* other) {
    return other == nullptr || (other->rows() == tables.rows() && other->lids() == tables.lids());
  };
  for (const Timeline::Outage& outage : timeline.outages) {
    if (outage.link >= links) return refuse_timeline("there is no link " + std::to_string(outage.link));
    if (outage.down < 0 || outage.up <= outage.down) return refuse_timeline("a link comes back before it fails");
  }
  for (const Timeline::Noise& noise : timeline.noise) {
    if (noise.link >= links) return refuse_timeline("there is no link " + std::to_string(noise.link));
    if (noise.from < 0 || noise.to <= noise.from) return refuse_timeline("noise ends before it begins");
    if (!(noise.bit_error_rate > 0 && noise.bit_error_rate < 1))
      return refuse_timeline("a bit error rate is not between 0 and 1");
  }
  if (timeline.slow.size() > most_slow_links) return refuse_timeline("more than 1,000 links get slow");
  for (const Timeline::Slowness& slow : timeline.slow) {
    if (slow.link >= links) return refuse_timeline("there is no link " + std::to_string(slow.link));
    if (slow.from < 0 || slow.to <= slow.from) return refuse_timeline("a link is fast again before it is slow");
    if (slow.numerator == 0 || slow.numerator >= slow.denominator)
      return refuse_timeline("what a slow link has left of its rate is not between 0 and 1");
    if (slow.denominator > std::numeric_limits<std::int32_t>::max())
      return refuse_timeline("what a slow link has left of its rate has numbers above 2,147,483,647");
    if (!slowed(parameters.link_pace(fabric.link(slow.link).rate), slow))
      return refuse_timeline("a link gets slower than any that is simulated, 64 bytes in " +
                             std::to_string(slowest_flit_ps / ps_per_us) + " us");
  }
  for (const Timeline::Write& write : timeline.writes) {
    if (write.row >= tables.rows()) return refuse_timeline("there is no switch " + std::to_string(write.row));
    if (write.at < 0 || !fits(write.tables)) return refuse_timeline("tables of another fabric, or before the start");
  }
  for (const Timeline::Paths& paths : timeline.paths)
    if (paths.at < 0 || paths.tables == nullptr || !fits(paths.tables))
      return refuse_timeline("paths of another fabric, or before the start");
  join_outages(timeline.outages);
  return timeline;
}

}  // namespace holdfast::simulate
