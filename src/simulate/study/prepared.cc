#include "simulate/study/prepared.h"

#include <fmt/format.h>

#include <utility>

#include "core/fault/grammar.h"
#include "fabric/check/credit_loops.h"
#include "fabric/check/paths.h"
#include "fabric/formats/source.h"
#include "fabric/topology/generate.h"

namespace holdfast::simulate::study {
namespace {

/// All that the damage depends on, as text; equal for all seeds of a healthy fabric.
std::string key_of(const ThroughputPoint& point) {
  std::string key = point.fabric + "\n";
  if (point.scenario.healthy()) return key;
  for (const fault::Fault& each : point.scenario.faults) key += fault::format(each) + "\n";
  if (const auto& ageing = point.scenario.ageing)
    key += fmt::format("{} {} {} {} {} {}\n", ageing->years, ageing->link_rate, ageing->switch_rate,
                       ageing->adapter_rate, ageing->shape, ageing->links_per_switch.value_or(0));
  return key + std::to_string(point.seed);
}

/// Counts of what failed, for the x axis and for whoever wonders.
void describe_failures(const fabric::Fabric& network, const fabric::Failures& failures, Json& result) {
  std::uint32_t links = 0, switches = 0, others = 0;
  for (const fabric::Failure& failure : failures.failed) {
    if (failure.component == fabric::Component::link)
      ++links;
    else if (failure.component == fabric::Component::switch_)
      ++switches;
    else
      ++others;
  }
  std::uint32_t total = 0, down = 0;
  for (const fabric::Link& link : network.links()) {
    if (!network.is_switch(network.port(link.a).node) || !network.is_switch(network.port(link.b).node)) continue;
    ++total;
    if (!link.up) ++down;
  }
  result["failed_links"] = links;
  result["failed_switches"] = switches;
  if (others > 0) result["failed_others"] = others;
  result["spared"] = failures.spared.size();
  result["links"] = total;
  result["links_down"] = down;
}

Result<fabric::Failures> damage(const ThroughputPoint& point, fabric::Fabric& network) {
  fabric::FailureRules rules;
  rules.seed = point.seed;
  if (point.scenario.healthy()) return fabric::Failures{};
  if (point.scenario.ageing) return fabric::age(network, *point.scenario.ageing, rules);
  return fabric::fail(network, point.scenario.faults, rules);
}

/// What the tables are worth before any packet moves. True: simulate.
bool examine(const fabric::Fabric& network, const fabric::Forwarding& tables, Json& result) {
  const fabric::PathReport paths = fabric::check_paths(network, tables, 1);
  const fabric::CreditLoopReport loops = fabric::check_credit_loops(network, tables, 1);
  result["lanes_used"] = tables.lanes_used;
  result["forwarding_index"] = paths.index.max;
  result["mean_hops"] = paths.mean_hops();
  result["credit_loops"] = loops.loops.size();
  result["lost_pairs"] = paths.lost_pairs();
  return paths.lost_pairs() == 0;
}

std::string outcome_of(fabric::opensm::Verdict verdict) {
  switch (verdict) {
    case fabric::opensm::Verdict::timed_out:
      return "timed out";
    case fabric::opensm::Verdict::crashed:
      return "crashed";
    default:
      return "refused";
  }
}

std::uint64_t bytes_of(const fabric::Fabric& network) {
  std::uint64_t bytes = network.ports().size() * sizeof(fabric::Port) + network.links().size() * sizeof(fabric::Link);
  for (const fabric::Node& node : network.nodes()) bytes += sizeof(node) + node.name.size();
  return bytes;
}

std::uint64_t bytes_of(const fabric::Fabric& network, const fabric::Forwarding& tables) {
  const std::uint64_t lids = tables.lids();
  std::uint64_t bytes = sizeof(Prepared) + tables.rows() * lids;
  bytes += tables.distinguishes_sources() ? lids * lids : tables.rows() * lids;
  if (!tables.has_lane_maps()) return bytes;
  for (std::uint32_t row = 0; row < tables.rows(); ++row) {
    const std::uint64_t ports = network.node(tables.switch_at(row)).port_count + 1U;
    bytes += ports * ports * sizeof(fabric::LaneMap);
  }
  return bytes;
}

}  // namespace

Result<std::shared_ptr<const Prepared>> Preparations::of(const ThroughputPoint& point) {
  auto found = damaged_of(point);
  if (!found.ok()) return found.status();
  Damaged& damaged = *found.value();
  const std::string engine = point.engine.label() + " " + std::to_string(point.lanes);
  if (const auto kept = damaged.by_engine.find(engine); kept != damaged.by_engine.end()) return kept->second;
  bool lasting = true;
  auto made = route(point, damaged, lasting);
  if (!made.ok() || !lasting) return made;
  damaged.by_engine.emplace(engine, made.value());
  charge(damaged, bytes_of(*damaged.network, made.value()->tables));
  return made;
}

/// Brings it to the front, made anew or not.
Result<Preparations::Damaged*> Preparations::damaged_of(const ThroughputPoint& point) {
  std::string key = key_of(point);
  if (const auto place = places_.find(key); place != places_.end()) {
    kept_.splice(kept_.begin(), kept_, place->second);
    return &kept_.front();
  }
  if (Status status = open(point); !status.ok()) return status;
  fabric::Fabric network = opened_;
  auto failures = damage(point, network);
  if (!failures.ok()) return failures.status();
  ++damaged_;
  Json result;
  describe_failures(network, failures.value(), result);
  kept_.push_front({std::move(key), std::make_shared<const fabric::Fabric>(std::move(network)), std::move(result)});
  places_.emplace(kept_.front().key, kept_.begin());
  charge(kept_.front(), sizeof(Damaged) + bytes_of(*kept_.front().network));
  return &kept_.front();
}

namespace {

/// What the study was read with, whatever lies there by now.
Result<fabric::Imported> imported(const ThroughputPoint& point) {
  if (point.fabric_text != nullptr) return fabric::read_fabric(*point.fabric_text, point.fabric);
  if (!fabric::looks_like_topology(point.fabric)) return fabric::open_fabric(point.fabric);
  auto made = fabric::generate(point.fabric);
  if (!made.ok()) return made.status();
  return fabric::Imported{std::move(made).value(), {}};
}

}  // namespace

Status Preparations::open(const ThroughputPoint& point) {
  if (point.fabric == opened_name_) return {};
  auto opened = imported(point);
  if (!opened.ok()) return opened.status();
  opened_ = std::move(opened.value().fabric);
  opened_name_ = point.fabric;
  return {};
}

Result<std::shared_ptr<const Prepared>> Preparations::route(const ThroughputPoint& point, const Damaged& damaged,
                                                            bool& lasting) {
  using fabric::opensm::Verdict;
  fabric::ContestRules rules;
  rules.lanes = static_cast<std::uint8_t>(point.lanes);
  rules.threads = 1;
  auto routing = fabric::run(point.engine, *damaged.network, rules);
  if (!routing.ok()) return routing.status();
  ++routed_;
  auto made = std::make_shared<Prepared>();
  made->network = damaged.network;
  made->result = damaged.result;
  const Verdict verdict = routing.value().verdict;
  lasting = verdict == Verdict::routed || verdict == Verdict::refused;
  if (verdict != Verdict::routed) {
    made->outcome = outcome_of(verdict);
    made->result["reason"] = routing.value().reason;
    return std::shared_ptr<const Prepared>(std::move(made));
  }
  made->tables = std::move(routing.value().forwarding);
  if (!examine(*made->network, made->tables, made->result)) made->outcome = "lost pairs";
  return std::shared_ptr<const Prepared>(std::move(made));
}

/// Counts what was added to the front, and gives up what was used least recently.
void Preparations::charge(Damaged& damaged, std::uint64_t bytes) {
  damaged.bytes += bytes;
  bytes_ += bytes;
  while (bytes_ > most_bytes_ && kept_.size() > 1) {
    bytes_ -= kept_.back().bytes;
    places_.erase(kept_.back().key);
    kept_.pop_back();
  }
}

}  // namespace holdfast::simulate::study
