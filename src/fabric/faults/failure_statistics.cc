#include "fabric/faults/failure_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/event/record.h"
#include "core/random/stream.h"
#include "core/stats/distribution.h"
#include "core/stats/moments.h"
#include "core/stats/quantile.h"

namespace holdfast::fabric {
namespace {

constexpr unsigned fit_samples = 199;
constexpr double second = 1 / seconds_per_year;

/// The lives of one kind of parts in years. A moment of the log is a second: what failed in the one in which its life
/// began lived for half of it.
void add_lives(const FailureLog& log, Component component, std::uint64_t parts, std::vector<stats::Life>& lives) {
  std::map<std::string_view, std::vector<const FailureLog::Entry*>> by_part;
  for (const FailureLog::Entry& entry : log.entries)
    if (entry.component == component) by_part[entry.part].push_back(&entry);
  const auto years = [](std::int64_t seconds) { return std::max(0.5, static_cast<double>(seconds)) * second; };
  for (auto& [part, entries] : by_part) {
    std::ranges::sort(entries, {}, &FailureLog::Entry::failed_s);
    std::optional<std::int64_t> begun = log.from_s;
    for (const FailureLog::Entry* entry : entries) {
      lives.push_back({years(entry->failed_s - *begun), years(log.to_s - *begun), true, 1});
      begun = entry->repaired_s;
    }
    if (begun && *begun < log.to_s) lives.push_back({years(log.to_s - *begun), years(log.to_s - *begun), false, 1});
  }
  if (parts > by_part.size())
    lives.push_back({years(log.to_s - log.from_s), years(log.to_s - log.from_s), false, parts - by_part.size()});
}

/// Of a Poisson process that was seen for a time of 1: exact (F. Garwood, Biometrika 28, 1936).
stats::Interval events_interval(std::uint64_t events, double confidence) {
  const auto n = static_cast<double>(events);
  const double out = (1 - confidence) / 2;
  return {events == 0 ? 0 : stats::gamma_quantile(out, n, 1), stats::gamma_quantile(1 - out, n + 1, 1)};
}

void add_repairs(const FailureLog& log, std::optional<Component> component, double confidence,
                 KindStatistics& statistics) {
  stats::Moments moments;
  std::vector<double> times;
  for (const FailureLog::Entry& entry : log.entries) {
    if ((component && entry.component != *component) || !entry.repaired_s) continue;
    times.push_back(static_cast<double>(*entry.repaired_s - entry.failed_s));
    moments.add(times.back());
  }
  statistics.repairs = times.size();
  if (times.empty()) return;
  statistics.repair_s = Estimate{moments.mean()};
  if (const auto interval = stats::mean_interval(moments, confidence); interval.ok())
    statistics.repair_s->interval = interval.value();
  statistics.repair_median_s = stats::median(times).value();
}

KindStatistics statistics_of(const FailureLog& log, std::optional<Component> component,
                             const std::vector<stats::Life>& lives, std::uint64_t parts, double confidence,
                             random::Stream stream) {
  KindStatistics statistics;
  statistics.parts = parts;
  for (const FailureLog::Entry& entry : log.entries)
    if (!component || entry.component == *component) ++statistics.failures;
  statistics.share =
      log.entries.empty() ? 0 : static_cast<double>(statistics.failures) / static_cast<double>(log.entries.size());
  add_repairs(log, component, confidence, statistics);
  const double observed_s = static_cast<double>(log.to_s - log.from_s);
  const auto failures = static_cast<double>(statistics.failures);
  const stats::Interval events = events_interval(statistics.failures, confidence);
  if (statistics.failures > 0)
    statistics.between_s = {observed_s / failures, stats::Interval{observed_s / events.high, observed_s / events.low}};
  for (const stats::Life& life : lives) statistics.years += life.age * static_cast<double>(life.count);
  if (statistics.years > 0)
    statistics.a_year = {failures / statistics.years,
                         stats::Interval{events.low / statistics.years, events.high / statistics.years}};
  const auto fit = stats::fit_weibull(lives, 1, confidence);
  if (!fit.ok()) {
    statistics.no_fit = fit.status().wrong();
    return statistics;
  }
  statistics.lives = fit.value();
  statistics.fit_p = stats::weibull_fit_p(lives, fit_samples, [&] { return stream.uniform(); }).value();
  return statistics;
}

constexpr std::array<std::string_view, 3> kind_words = {"link", "switch", "adapter"};

/// "57.6 min", "4.2 d"
std::string span_text(double seconds) {
  if (seconds < 7'200) return fmt::format("{:.1f} min", seconds / 60);
  return seconds < 7 * 86'400 ? fmt::format("{:.1f} h", seconds / 3'600) : fmt::format("{:.1f} d", seconds / 86'400);
}

std::string span_text(const Estimate& estimate) {
  std::string text = span_text(estimate.value);
  if (estimate.interval)
    text += fmt::format(" ({} to {})", span_text(estimate.interval->low), span_text(estimate.interval->high));
  return text;
}

std::string percent_text(double share, const std::optional<stats::Interval>& interval) {
  std::string text = fmt::format("{:.3g} %", 100 * share);
  if (interval) text += fmt::format(" ({:.3g} to {:.3g} %)", 100 * interval->low, 100 * interval->high);
  return text;
}

std::string kind_text(std::string_view what, const KindStatistics& kind) {
  std::string text =
      fmt::format("{}: {} parts, {} failures, {:.0f} % of all\n", what, kind.parts, kind.failures, 100 * kind.share);
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<26} {}\n", name, value);
  };
  if (kind.between_s) row("time between failures", span_text(*kind.between_s));
  if (kind.repair_s)
    row("time to repair", span_text(*kind.repair_s) +
                              fmt::format(", median {}, {} repairs", span_text(*kind.repair_median_s), kind.repairs));
  row("failures a part and year", percent_text(kind.a_year.value, kind.a_year.interval));
  if (!kind.lives) {
    row("Weibull distribution", "none: " + kind.no_fit);
    return text;
  }
  const stats::Weibull& lives = *kind.lives;
  row("Weibull shape",
      fmt::format("{:.3f} ({:.3f} to {:.3f})", lives.shape, lives.shape_interval.low, lives.shape_interval.high));
  row("  scale", fmt::format("{:.4g} years", lives.scale));
  row("  fail in the first year", percent_text(lives.failed_by_horizon, lives.by_horizon_interval));
  row("  constant rate",
      fmt::format("p {:.3f}{}", lives.constant_rate_p, lives.constant_rate_p < 0.05 ? ": refused" : ""));
  row("  goodness of fit",
      fmt::format("p {:.3f}{}", kind.fit_p, kind.fit_p < 0.05 ? ": no Weibull distribution says what was seen" : ""));
  return text;
}

using OrderedJson = nlohmann::ordered_json;

OrderedJson interval_json(const stats::Interval& interval) {
  return OrderedJson::array({interval.low, interval.high});
}

OrderedJson estimate_json(const Estimate& estimate) {
  OrderedJson json = {{"value", estimate.value}};
  if (estimate.interval) json["interval"] = interval_json(*estimate.interval);
  return json;
}

OrderedJson kind_json(const KindStatistics& kind) {
  OrderedJson json = {{"parts", kind.parts}, {"failures", kind.failures}, {"share", kind.share}};
  if (kind.between_s) json["between_s"] = estimate_json(*kind.between_s);
  if (kind.repair_s) {
    json["repairs"] = kind.repairs;
    json["repair_s"] = estimate_json(*kind.repair_s);
    json["repair_median_s"] = *kind.repair_median_s;
  }
  json["part_years"] = kind.years;
  json["failures_a_part_and_year"] = estimate_json(kind.a_year);
  if (!kind.lives) {
    json["no_fit"] = kind.no_fit;
    return json;
  }
  const stats::Weibull& lives = *kind.lives;
  json["weibull"] = {{"shape", lives.shape},
                     {"shape_interval", interval_json(lives.shape_interval)},
                     {"scale_years", lives.scale},
                     {"failed_in_first_year", lives.failed_by_horizon},
                     {"failed_in_first_year_interval", interval_json(lives.by_horizon_interval)},
                     {"constant_rate_p", lives.constant_rate_p},
                     {"fit_p", kind.fit_p}};
  return json;
}

}  // namespace

Ageing FailureStatistics::ageing() const {
  const auto rate = [](const KindStatistics& kind) {
    return kind.lives ? kind.lives->failed_by_horizon : -std::expm1(-kind.a_year.value);
  };
  Ageing ageing;
  ageing.link_rate = rate(kinds[0]);
  ageing.switch_rate = rate(kinds[1]);
  ageing.adapter_rate = rate(kinds[2]);
  if (all.lives) ageing.shape = all.lives->shape;
  return ageing;
}

Result<FailureStatistics> summarise(const FailureLog& log, double confidence, std::uint64_t seed) {
  const std::string doing = "looking at a log of failures";
  if (!(confidence > 0 && confidence < 1))
    return Status{Code::bad_input, doing, "the confidence is not between 0 and 1", "as 0.95"};
  if (log.entries.empty())
    return Status{Code::bad_input, doing, "nothing has failed", "write failed, KIND, PART, TIME"};
  FailureStatistics statistics;
  statistics.confidence = confidence;
  statistics.observed_years = static_cast<double>(log.to_s - log.from_s) * second;
  const random::Stream root = random::Stream(seed).child("fabric").child("ageing").child("fit");
  std::vector<stats::Life> all;
  std::uint64_t parts = 0;
  for (std::size_t i = 0; i < ageing_components.size(); ++i) {
    std::vector<stats::Life> lives;
    add_lives(log, ageing_components[i], log.parts[i], lives);
    statistics.kinds[i] = statistics_of(log, ageing_components[i], lives, log.parts[i], confidence, root.child(i));
    all.insert(all.end(), lives.begin(), lives.end());
    parts += log.parts[i];
  }
  statistics.all = statistics_of(log, {}, all, parts, confidence, root.child("all"));
  return statistics;
}

std::string failure_statistics_text(const FailureStatistics& statistics) {
  std::string text = fmt::format("observed for {:.2f} years; intervals of {:g} %\n", statistics.observed_years,
                                 100 * statistics.confidence);
  for (std::size_t i = 0; i < statistics.kinds.size(); ++i)
    if (statistics.kinds[i].parts > 0) text += kind_text(kind_words[i], statistics.kinds[i]);
  text += kind_text("all", statistics.all);
  const Ageing ageing = statistics.ageing();
  text += fmt::format("for a study:\n  [ageing.NAME]\n  link_rate = {:.4g}\n  switch_rate = {:.4g}\n  shape = {:.3f}\n",
                      ageing.link_rate, ageing.switch_rate, ageing.shape);
  return text;
}

nlohmann::ordered_json failure_statistics_record(const FailureStatistics& statistics) {
  OrderedJson record = event::make_record("holdfast.fabric.ageing", 1);
  record["observed_years"] = statistics.observed_years;
  record["confidence"] = statistics.confidence;
  for (std::size_t i = 0; i < statistics.kinds.size(); ++i)
    if (statistics.kinds[i].parts > 0) record[std::string(kind_words[i])] = kind_json(statistics.kinds[i]);
  record["all"] = kind_json(statistics.all);
  const Ageing ageing = statistics.ageing();
  record["ageing"] = {{"link_rate", ageing.link_rate},
                      {"switch_rate", ageing.switch_rate},
                      {"adapter_rate", ageing.adapter_rate},
                      {"shape", ageing.shape}};
  return record;
}

}  // namespace holdfast::fabric
