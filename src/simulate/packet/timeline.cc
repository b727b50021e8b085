#include "simulate/packet/timeline.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

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

}  // namespace

double damage_probability(double bit_error_rate, std::uint32_t bytes) {
  return -std::expm1(8.0 * bytes * std::log1p(-bit_error_rate));
}

Result<Timeline> check(Timeline timeline, const fabric::Fabric& fabric, const fabric::Forwarding& tables) {
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
