#include "fabric/check/lost_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/parallel/parallel_for.h"
#include "core/random/stream.h"

namespace holdfast::fabric {
namespace {

/// What can fail: links between switches as link ids, or switches as node ids.
std::vector<std::uint32_t> candidates(const Fabric& fabric, Failing what) {
  std::vector<std::uint32_t> found;
  if (what == Failing::switches) {
    for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
      if (fabric.is_switch(node)) found.push_back(node);
    }
    return found;
  }
  for (LinkId id = 0; id < fabric.links().size(); ++id) {
    const Link& link = fabric.link(id);
    const bool between = fabric.is_switch(fabric.port(link.a).node) && fabric.is_switch(fabric.port(link.b).node);
    if (link.up && between) found.push_back(id);
  }
  return found;
}

void fail(Fabric& fabric, Failing what, std::uint32_t id) {
  if (what == Failing::links) {
    fabric.set_link_up(id, false);
    return;
  }
  for (std::uint32_t number = 1; number <= fabric.node(id).port_count; ++number) {
    const LinkId link = fabric.port(fabric.node(id).first_port + number).link;
    if (link != none) fabric.set_link_up(link, false);
  }
}

Fabric with_failures(const Fabric& fabric, Failing what, std::vector<std::uint32_t> from, unsigned failures,
                     std::uint64_t seed) {
  random::Stream draw = random::Stream(seed).child(what == Failing::links ? "failing links" : "failing switches");
  Fabric degraded = fabric;
  for (unsigned i = 0; i < std::min<std::size_t>(failures, from.size()); ++i) {
    std::swap(from[i], from[i + draw.below(from.size() - i)]);
    fail(degraded, what, from[i]);
  }
  return degraded;
}

}  // namespace

double expected_lost_routes(const Fabric& fabric, const Forwarding& tables, const PathReport& report, Failing what,
                            unsigned failures) {
  const std::vector<std::uint32_t> all = candidates(fabric, what);
  double sum = 0;
  for (const std::uint32_t id : all) {
    if (what == Failing::switches) {
      sum += static_cast<double>(report.switch_routes[tables.row_of(id)]);
    } else {
      sum += static_cast<double>(report.port_routes[fabric.link(id).a] + report.port_routes[fabric.link(id).b]);
    }
  }
  return all.empty() ? 0 : sum * failures / static_cast<double>(all.size());
}

std::vector<LostRoutes> count_lost_routes(const Fabric& fabric, const Forwarding& tables, Failing what,
                                          const std::vector<unsigned>& failures, unsigned seeds,
                                          std::uint64_t first_seed, unsigned threads) {
  const PathReport report = check_paths(fabric, tables, threads);
  const std::uint64_t unrouted_before = count_unrouted(fabric, tables);
  const std::vector<std::uint32_t> from = candidates(fabric, what);
  std::vector<std::uint64_t> lost(failures.size() * seeds);
  parallel::parallel_for(lost.size(), 1, threads, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Fabric degraded = with_failures(fabric, what, from, failures[i / seeds], first_seed + i % seeds);
      lost[i] = count_unrouted(degraded, tables) - unrouted_before;
    }
  });
  std::vector<LostRoutes> results;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const auto first = lost.begin() + static_cast<std::ptrdiff_t>(i * seeds);
    const Spread spread = spread_of({first, first + seeds});
    results.push_back({failures[i], spread.min, spread.max, spread.mean,
                       expected_lost_routes(fabric, tables, report, what, failures[i])});
  }
  return results;
}

std::string lost_routes_text(const std::vector<LostRoutes>& counts, Failing what) {
  std::string text =
      fmt::format("{:>16} {:>10} {:>12} {:>10} {:>12}\n", what == Failing::links ? "failed links" : "failed switches",
                  "least", "mean", "most", "expected");
  for (const LostRoutes& count : counts) {
    text += fmt::format("{:>16} {:>10} {:>12.1f} {:>10} {:>12.1f}\n", count.failures, count.min, count.mean, count.max,
                        count.expected);
  }
  return text;
}

nlohmann::ordered_json lost_routes_json(const std::vector<LostRoutes>& counts) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const LostRoutes& count : counts) {
    json.push_back({{"failures", count.failures},
                    {"min", count.min},
                    {"mean", count.mean},
                    {"max", count.max},
                    {"expected", count.expected}});
  }
  return json;
}

}  // namespace holdfast::fabric
