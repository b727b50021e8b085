#include "fabric/compare/live_failure.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/time/clock.h"
#include "core/time/nanoseconds.h"
#include "fabric/check/paths.h"
#include "fabric/faults/critical.h"
#include "fabric/faults/names.h"
#include "fabric/opensm/configuration.h"
#include "fabric/routing/engines/reroute.h"

namespace holdfast::fabric {
namespace {

/// The first adapter that stays connected to most others, `none` when no one does.
NodeId lasting_home(const Fabric& fabric, const std::vector<LinkId>& links) {
  const std::vector<NodeId> lost = Criticality(fabric).loss_without(links).hosts;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node) {
    if (fabric.is_switch(node) || fabric.peer(fabric.port_of(node, 1)) == none) continue;
    if (!std::binary_search(lost.begin(), lost.end(), node)) return node;
  }
  return none;
}

std::int64_t thread_cpu_ns() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return time::in_ns(now);
}

Status fail_in_opensm(const Contender& contender, const Fabric& fabric, const std::vector<LinkId>& links,
                      const ContestRules& rules, LiveFailure& failure) {
  opensm::Request request = opensm_request(contender, rules);
  request.home = lasting_home(fabric, links);
  auto session = opensm::Session::start(fabric, request);
  if (!session.ok()) return session.status();
  auto first = session.value().wait();
  if (!first.ok()) return first.status();
  failure.first_sweep_wall_ns = first.value().sweep_wall_ns;
  failure.before = routing_of(std::move(first).value());
  if (failure.before.verdict != opensm::Verdict::routed) return {};
  if (Status status = session.value().set_links(links, false); !status.ok()) return status;
  auto second = session.value().wait();
  if (!second.ok()) return second.status();
  failure.sweep_wall_ns = second.value().sweep_wall_ns;
  failure.after.emplace().routing = routing_of(std::move(second).value());
  return {};
}

Rerouted mend(const Contender& contender, const LiveFailure& failure, const ContestRules& rules) {
  Rerouted mended;
  Forwarding tables = failure.before.forwarding;  // those of before are compared with: a subnet manager needs no copy
  const std::int64_t cpu_ns = thread_cpu_ns();
  const std::int64_t wall_ns = time::steady_now_ns();
  auto result = reroute(failure.degraded, std::move(tables), contender.engine, engine_options(rules));
  mended.routing.routing_cpu_ns = thread_cpu_ns() - cpu_ns;
  mended.routing.routing_wall_ns = time::steady_now_ns() - wall_ns;
  mended.routing.verdict = result.ok() ? opensm::Verdict::routed : opensm::Verdict::refused;
  if (result.ok()) {
    mended.anew = result.value().anew;
    mended.routing.forwarding = std::move(result.value().tables);
  } else {
    mended.routing.reason = result.status().wrong();
  }
  return mended;
}

void count_changes(const LiveFailure& failure, Rerouted& rerouted) {
  if (rerouted.routing.verdict != opensm::Verdict::routed) return;
  rerouted.changes = compare_tables(failure.degraded, failure.before.forwarding, rerouted.routing.forwarding);
}

std::string milliseconds(std::int64_t nanoseconds) {
  return fmt::format("{:.1f} ms", static_cast<double>(nanoseconds) / 1e6);
}

std::string rerouted_text(std::string_view what, const Rerouted& rerouted) {
  if (rerouted.routing.verdict != opensm::Verdict::routed)
    return fmt::format("{:<25} {}: {}\n", what, opensm::name(rerouted.routing.verdict), rerouted.routing.reason);
  const Changes& changes = rerouted.changes;
  const double share =
      changes.entries == 0 ? 0 : 100.0 * static_cast<double>(changes.changed) / static_cast<double>(changes.entries);
  return fmt::format(
      "{:<25} {} on the clock, {} of CPU; {} of {} entries changed ({:.2f} %) in {} blocks of {} switches{}\n", what,
      milliseconds(rerouted.routing.routing_wall_ns), milliseconds(rerouted.routing.routing_cpu_ns), changes.changed,
      changes.entries, share, changes.blocks, changes.switches,
      rerouted.anew ? "; mending was not enough, all was routed anew" : "");
}

nlohmann::ordered_json rerouted_json(const Rerouted& rerouted) {
  nlohmann::ordered_json json;
  json["verdict"] = opensm::name(rerouted.routing.verdict);
  if (!rerouted.routing.reason.empty()) json["reason"] = rerouted.routing.reason;
  if (rerouted.routing.verdict != opensm::Verdict::routed) return json;
  json["routing_cpu_ns"] = rerouted.routing.routing_cpu_ns;
  json["routing_wall_ns"] = rerouted.routing.routing_wall_ns;
  json["entries"] = rerouted.changes.entries;
  json["entries_changed"] = rerouted.changes.changed;
  json["blocks_changed"] = rerouted.changes.blocks;
  json["switches_changed"] = rerouted.changes.switches;
  json["levels_changed"] = rerouted.changes.levels;
  json["routed_anew"] = rerouted.anew;
  return json;
}

}  // namespace

Result<LiveFailure> fail_live(const Contender& contender, const Fabric& fabric, const std::vector<LinkId>& links,
                              const ContestRules& rules) {
  LiveFailure failure;
  failure.degraded = fabric;
  for (const LinkId link : links) {
    if (!failure.degraded.link(link).up)
      return Status(Code::bad_input, "taking links down", link_name(fabric, link) + " is down already",
                    "name working links, each once");
    failure.degraded.set_link_up(link, false);
  }
  if (contender.in_opensm && check_torus(contender, fabric, rules).ok()) {
    if (Status status = fail_in_opensm(contender, fabric, links, rules, failure); !status.ok()) return status;
  } else {
    auto first = run(contender, fabric, rules);
    if (!first.ok()) return first.status();
    failure.before = std::move(first).value();
  }
  if (failure.before.verdict != opensm::Verdict::routed) return failure;
  failure.routes_cut =
      count_unrouted(failure.degraded, failure.before.forwarding) - count_unrouted(fabric, failure.before.forwarding);
  if (!contender.in_opensm) {
    failure.after = mend(contender, failure, rules);
    auto anew = run(contender, failure.degraded, rules);
    if (!anew.ok()) return anew.status();
    failure.full.emplace().routing = std::move(anew).value();
    count_changes(failure, *failure.full);
  }
  count_changes(failure, *failure.after);
  return failure;
}

std::string live_failure_text(const LiveFailure& failure) {
  std::string text = fmt::format("routes cut until rerouted {}\n", failure.routes_cut);
  if (failure.after) text += rerouted_text(failure.full ? "mended" : "rerouted", *failure.after);
  if (failure.full) text += rerouted_text("for comparison, anew", *failure.full);
  if (failure.sweep_wall_ns != 0)
    text +=
        fmt::format("{:<25} {} from the failure to tables in all switches, {} for the first sweep\n", "OpenSM's sweep",
                    milliseconds(failure.sweep_wall_ns), milliseconds(failure.first_sweep_wall_ns));
  return text;
}

nlohmann::ordered_json live_failure_json(const LiveFailure& failure) {
  nlohmann::ordered_json json;
  json["routes_cut"] = failure.routes_cut;
  if (failure.after) json["rerouted"] = rerouted_json(*failure.after);
  if (failure.full) json["routed_in_full"] = rerouted_json(*failure.full);
  if (failure.sweep_wall_ns != 0) {
    json["first_sweep_wall_ns"] = failure.first_sweep_wall_ns;
    json["sweep_wall_ns"] = failure.sweep_wall_ns;
  }
  return json;
}

}  // namespace holdfast::fabric
