#include "fabric/compare/renumbered.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/event/record.h"
#include "fabric/topology/renumbering.h"

namespace holdfast::fabric {
namespace {

template <class Number>
Extent over_routed(const std::vector<RenumberedRun>& runs, const Number& number) {
  std::vector<double> numbers;
  for (const RenumberedRun& run : runs) {
    if (run.judged.routed()) numbers.push_back(static_cast<double>(number(run)));
  }
  return extent_of(std::move(numbers));
}

/// The adapter ports that take part, by their new numbers in their old order.
std::vector<PortId> hosts_in_old_order(const Fabric& old, const Fabric& made, const Renumbering& numbers) {
  std::vector<PortId> new_of(numbers.ports.size());
  for (PortId id = 0; id < numbers.ports.size(); ++id) new_of[numbers.ports[id]] = id;
  std::vector<PortId> hosts;
  for (PortId id = 0; id < old.ports().size(); ++id) {
    if (old.is_switch(old.port(id).node) || old.number_of(id) == 0 || old.peer(id) == none) continue;
    if (!old.is_switch(old.port(old.peer(id)).node) || made.port(new_of[id]).lid == 0) continue;
    hosts.push_back(new_of[id]);
  }
  return hosts;
}

ContestRules renumbered(ContestRules rules, const Fabric& fabric, const Renumbering& numbers) {
  std::vector<NodeId> new_of(numbers.nodes.size());
  for (NodeId node = 0; node < numbers.nodes.size(); ++node) new_of[numbers.nodes[node]] = node;
  for (NodeId& root : rules.roots) root = new_of[root];
  if (!rules.grid) return rules;
  std::vector<std::uint32_t> row_of(fabric.nodes().size(), none);
  std::uint32_t rows = 0;
  for (NodeId node = 0; node < fabric.nodes().size(); ++node)
    if (fabric.is_switch(node)) row_of[node] = rows++;
  std::vector<std::uint32_t> place;
  for (const NodeId old : numbers.nodes) {
    for (std::uint32_t i = 0; fabric.is_switch(old) && i < rules.grid->dimensions(); ++i)
      place.push_back(rules.grid->at(row_of[old], i));
  }
  rules.grid->place = std::move(place);
  return rules;
}

nlohmann::ordered_json extent_json(const Extent& extent) {
  return {{"least", extent.least}, {"median", extent.median}, {"most", extent.most}};
}

}  // namespace

Extent extent_of(std::vector<double> numbers) {
  if (numbers.empty()) return {};
  std::sort(numbers.begin(), numbers.end());
  return {numbers.front(), numbers[(numbers.size() - 1) / 2], numbers.back()};
}

std::uint64_t RenumberedEngine::routed() const {
  return static_cast<std::uint64_t>(
      std::count_if(runs.begin(), runs.end(), [](const RenumberedRun& run) { return run.judged.routed(); }));
}

std::uint64_t RenumberedEngine::valid() const {
  return static_cast<std::uint64_t>(
      std::count_if(runs.begin(), runs.end(), [](const RenumberedRun& run) { return run.judged.valid(); }));
}

Extent RenumberedEngine::fullest() const {
  return over_routed(runs, [](const RenumberedRun& run) { return run.judged.forwarding_index; });
}
Extent RenumberedEngine::deviation() const {
  return over_routed(runs, [](const RenumberedRun& run) { return run.judged.forwarding_index_deviation; });
}
Extent RenumberedEngine::exchange() const {
  return over_routed(runs, [](const RenumberedRun& run) { return run.shares.exchange; });
}
Extent RenumberedEngine::bisection() const {
  return over_routed(runs, [](const RenumberedRun& run) { return run.shares.bisection; });
}

namespace {

std::uint32_t largest_lmc(const Fabric& fabric) {
  std::uint32_t lmc = 0;
  for (const Port& port : fabric.ports()) lmc = std::max<std::uint32_t>(lmc, port.lmc);
  return lmc;
}

}  // namespace

Result<std::vector<RenumberedEngine>> compare_renumbered(const Fabric& fabric, std::span<const Contender> contenders,
                                                         const ContestRules& rules,
                                                         const RenumberingRules& renumberings,
                                                         const RenumberedProgress& progress) {
  std::vector<RenumberedEngine> engines;
  for (const Contender& contender : contenders) engines.push_back({contender, {}});
  for (std::uint32_t i = 0; i < renumberings.count; ++i) {
    const std::uint64_t seed = renumberings.seed + i;
    const Renumbering numbers = draw_renumbering(fabric, seed);
    Fabric made = renumber(fabric, numbers);
    made.assign_lids(largest_lmc(fabric));
    const std::vector<PortId> hosts = hosts_in_old_order(fabric, made, numbers);
    const ContestRules made_rules = renumbered(rules, fabric, numbers);
    for (RenumberedEngine& engine : engines) {
      auto routing = run(engine.contender, made, made_rules);
      if (!routing.ok()) return routing.status();
      RenumberedRun one;
      one.seed = seed;
      if (routing.value().verdict == opensm::Verdict::routed)
        one.shares = measure_patterns(made, routing.value().forwarding, hosts, renumberings.patterns);
      one.judged = judge(engine.contender, made, std::move(routing.value()), rules.threads);
      if (progress) progress(one);
      engine.runs.push_back(std::move(one));
    }
  }
  return engines;
}

std::string renumbered_text(std::span<const RenumberedEngine> engines) {
  std::size_t width = 6;
  for (const RenumberedEngine& engine : engines) width = std::max(width, engine.contender.label().size());
  std::string text =
      fmt::format("{:<{}}  {:>9}  {:>7}  {:>24}  {:>7}  {:>22}  {:>19}  {:>19}\n", "engine", width, "routed", "valid",
                  "fullest link", "spread", "deviation", "exchange, %", "bisection, %");
  std::string notes;
  for (const RenumberedEngine& engine : engines) {
    const std::string label = engine.contender.label();
    const std::string routed = fmt::format("{}/{}", engine.routed(), engine.runs.size());
    if (engine.routed() == 0) {
      text += fmt::format("{:<{}}  {:>9}\n", label, width, routed);
      if (!engine.runs.empty()) notes += label + ": " + engine.runs.front().judged.routing.reason + "\n";
      continue;
    }
    const Extent fullest = engine.fullest();
    const Extent deviation = engine.deviation();
    const auto shares = [](const Extent& extent) {
      return fmt::format("{:.1f} ({:.1f}-{:.1f})", 100 * extent.median, 100 * extent.least, 100 * extent.most);
    };
    text += fmt::format(
        "{:<{}}  {:>9}  {:>7}  {:>24}  {:>6.1f}%  {:>22}  {:>19}  {:>19}\n", label, width, routed, engine.valid(),
        fmt::format("{:.0f} ({:.0f}-{:.0f})", fullest.median, fullest.least, fullest.most), 100 * fullest.spread(),
        fmt::format("{:.1f} ({:.1f}-{:.1f})", deviation.median, deviation.least, deviation.most),
        shares(engine.exchange()), shares(engine.bisection()));
  }
  return text + (notes.empty() ? "" : "\n" + notes);
}

nlohmann::ordered_json renumbered_record(const Fabric& fabric, std::span<const RenumberedEngine> engines) {
  nlohmann::ordered_json record = event::make_record("holdfast.fabric.renumbered", 1);
  record["switches"] = fabric.switch_count();
  record["adapters"] = fabric.adapter_count();
  auto list = nlohmann::ordered_json::array();
  for (const RenumberedEngine& engine : engines) {
    nlohmann::ordered_json entry;
    entry["engine"] = engine.contender.label();
    entry["renumberings"] = engine.runs.size();
    entry["routed"] = engine.routed();
    entry["valid"] = engine.valid();
    if (engine.routed() != engine.runs.size()) {
      const auto refused = std::find_if(engine.runs.begin(), engine.runs.end(),
                                        [](const RenumberedRun& run) { return !run.judged.routed(); });
      entry["reason"] = refused->judged.routing.reason;
    }
    if (engine.routed() != 0) {
      entry["edge_forwarding_index"] = extent_json(engine.fullest());
      entry["edge_forwarding_index_deviation"] = extent_json(engine.deviation());
      entry["exchange_share"] = extent_json(engine.exchange());
      entry["bisection_share"] = extent_json(engine.bisection());
    }
    auto runs = nlohmann::ordered_json::array();
    for (const RenumberedRun& run : engine.runs) {
      if (run.judged.routed())
        runs.push_back({{"seed", run.seed},
                        {"valid", run.judged.valid()},
                        {"edge_forwarding_index", run.judged.forwarding_index},
                        {"exchange_share", run.shares.exchange},
                        {"bisection_share", run.shares.bisection}});
    }
    entry["runs"] = std::move(runs);
    list.push_back(std::move(entry));
  }
  record["engines"] = std::move(list);
  return record;
}

}  // namespace holdfast::fabric
