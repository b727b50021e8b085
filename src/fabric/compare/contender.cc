#include "fabric/compare/contender.h"

#include <strings.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "core/status/hint.h"
#include "core/time/clock.h"
#include "core/time/nanoseconds.h"
#include "fabric/formats/opensm_config.h"
#include "fabric/opensm/configuration.h"
#include "fabric/routing/engines/engine.h"

namespace holdfast::fabric {
namespace {

constexpr std::string_view prefix = "opensm:";

std::int64_t thread_cpu_ns() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return time::in_ns(now);
}

std::vector<Contender> all_native() {
  std::vector<Contender> all;
  for (const Engine& engine : engines()) all.push_back({false, std::string(engine.name)});
  return all;
}

std::vector<Contender> all_of_opensm() {
  std::vector<Contender> all;
  for (const std::string_view engine : opensm::engines()) all.push_back({true, std::string(engine)});
  return all;
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// What one word of the list stands for; nothing when it is unknown.
std::vector<Contender> meant_by(std::string_view word) {
  std::vector<Contender> meant;
  if (word == "native" || word == "all") meant = all_native();
  if (word == "opensm" || word == "all")
    for (Contender& one : all_of_opensm()) meant.push_back(std::move(one));
  const bool in_opensm = word.starts_with(prefix);
  const std::string_view engine = in_opensm ? word.substr(prefix.size()) : word;
  for (const Contender& one : in_opensm ? all_of_opensm() : all_native())
    if (same_name(one.engine, engine)) meant.push_back(one);
  return meant;
}

Status unknown(std::string_view word) {
  std::vector<std::string> labels = {"native", "opensm", "all"};
  for (const Contender& one : all_native()) labels.push_back(one.label());
  for (const Contender& one : all_of_opensm()) labels.push_back(one.label());
  const std::vector<std::string_view> views(labels.begin(), labels.end());
  return {Code::bad_input, "reading the engines", "there is no engine '" + std::string(word) + "'",
          did_you_mean(word, views, "see holdfast fabric compare --help")};
}

Result<Routing> run_native(const Contender& contender, const Fabric& fabric, const ContestRules& rules) {
  const EngineOptions options = engine_options(rules);
  Routing routing;
  if (!rules.grid_refusal.empty() && (contender.engine == "torus-2qos" || contender.engine == "dor")) {
    routing.verdict = opensm::Verdict::refused;
    routing.reason = rules.grid_refusal;
    return routing;
  }
  const std::int64_t cpu_ns = thread_cpu_ns();
  const std::int64_t wall_ns = time::steady_now_ns();
  auto tables = route(fabric, contender.engine, options);
  routing.routing_cpu_ns = thread_cpu_ns() - cpu_ns;
  routing.routing_wall_ns = time::steady_now_ns() - wall_ns;
  routing.verdict = tables.ok() ? opensm::Verdict::routed : opensm::Verdict::refused;
  if (tables.ok()) {
    routing.lanes_needed = tables.value().lanes_needed;
    routing.forwarding = std::move(tables.value());
  } else {
    routing.reason = tables.status().wrong();
  }
  return routing;
}

Result<Routing> run_opensm(const Contender& contender, const Fabric& fabric, const ContestRules& rules) {
  for (const Status& unfit : {opensm::check_one_subnet(fabric), check_torus(contender, fabric, rules)}) {
    if (unfit.ok()) continue;
    Routing routing;
    routing.verdict = opensm::Verdict::refused;
    routing.reason = unfit.wrong();
    return routing;
  }
  auto outcome = opensm::route(fabric, opensm_request(contender, rules));
  if (!outcome.ok()) return outcome.status();
  return routing_of(std::move(outcome).value());
}

}  // namespace

EngineOptions engine_options(const ContestRules& rules) {
  return {.lanes = rules.lanes, .threads = rules.threads, .roots = rules.roots, .grid = rules.grid};
}

Status check_torus(const Contender& contender, const Fabric& fabric, const ContestRules& rules) {
  if (!contender.in_opensm || contender.engine != "torus-2QoS" || !rules.torus_config.empty()) return {};
  return torus_config_of(fabric).status();
}

opensm::Request opensm_request(const Contender& contender, const ContestRules& rules) {
  opensm::Request request;
  request.engine = contender.engine;
  request.lanes = rules.lanes;
  request.roots = rules.roots;
  request.torus_config = rules.torus_config;
  request.time_limit_ns = rules.time_limit_ns;
  return request;
}

Routing routing_of(opensm::Outcome outcome) {
  Routing routing;
  routing.verdict = outcome.verdict;
  routing.reason = std::move(outcome.reason);
  routing.forwarding = std::move(outcome.forwarding);
  routing.lanes_needed = outcome.lanes_needed;
  routing.routing_cpu_ns = outcome.routing_cpu_ns;
  routing.routing_wall_ns = outcome.routing_wall_ns;
  routing.memory_bytes = outcome.memory_bytes;
  return routing;
}

Result<std::vector<Contender>> parse_contenders(std::string_view text) {
  std::vector<Contender> contenders;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::vector<Contender> meant = meant_by(word);
    if (meant.empty()) return unknown(word);
    for (const Contender& one : meant)
      if (std::find(contenders.begin(), contenders.end(), one) == contenders.end()) contenders.push_back(one);
  }
  if (contenders.empty()) return unknown("");
  return contenders;
}

Result<Routing> run(const Contender& contender, const Fabric& fabric, const ContestRules& rules) {
  return contender.in_opensm ? run_opensm(contender, fabric, rules) : run_native(contender, fabric, rules);
}

}  // namespace holdfast::fabric
