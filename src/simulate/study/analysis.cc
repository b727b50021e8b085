#include "simulate/study/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/stats/quantile.h"

namespace holdfast::simulate::study {
namespace {

/// The scenario under way: its summary, and the throughputs behind it.
struct Open {
  ScenarioSummary summary;
  std::vector<double> throughputs;
  double failures = 0;
};

struct OpenSeries {
  std::string engine;
  std::vector<Open> scenarios;
  std::vector<Sample> samples;
};

struct OpenPanel {
  std::string group, fabric, traffic;
  std::vector<OpenSeries> series;
};

template <class List, class Same, class Make>
auto& find_or_make(List& list, const Same& same, const Make& make) {
  const auto found = std::find_if(list.begin(), list.end(), same);
  return found != list.end() ? *found : list.emplace_back(make());
}

std::string text_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

double number_of(const Json& object, const char* name, double absent = 0) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : absent;
}

void add(std::vector<OpenPanel>& panels, const Database::Row& row) {
  const Json& parameters = row.parameters;
  const std::string fabric = text_of(parameters, "fabric"), traffic = text_of(parameters, "traffic");
  OpenPanel& panel = find_or_make(
      panels, [&](const OpenPanel& p) { return p.group == row.group && p.fabric == fabric && p.traffic == traffic; },
      [&] {
        return OpenPanel{row.group, fabric, traffic, {}};
      });
  const std::string engine = text_of(parameters, "engine"), label = text_of(parameters, "failures");
  OpenSeries& series = find_or_make(
      panel.series, [&](const OpenSeries& s) { return s.engine == engine; },
      [&] {
        return OpenSeries{engine, {}, {}};
      });
  Open& open = find_or_make(
      series.scenarios, [&](const Open& o) { return o.summary.label == label; },
      [&] {
        Open made;
        made.summary.label = label;
        made.summary.years = number_of(parameters, "years", -1);
        return made;
      });
  if (!row.finished) return;
  const Finished& finished = *row.finished;
  const Json& result = finished.result;
  const double failures =
      number_of(result, "failed_links") + number_of(result, "failed_switches") + number_of(result, "failed_others");
  ++open.summary.asked;
  ++open.summary.outcomes[finished.outcome];
  open.failures += failures;
  if (finished.outcome != "measured") {
    if (open.summary.reason.empty()) open.summary.reason = text_of(result, "reason");
    return;
  }
  const double throughput = number_of(result, "throughput_bytes_per_s") / 1e9;
  open.throughputs.push_back(throughput);
  series.samples.push_back({failures, throughput});
}

Quartiles quartiles(std::span<const double> values) {
  const auto at = [&](double p) { return stats::quantile(values, p).value(); };
  return {at(0), at(0.25), at(0.5), at(0.75), at(1)};
}

Series close(OpenSeries&& open) {
  Series series;
  series.engine = std::move(open.engine);
  series.samples = std::move(open.samples);
  std::optional<double> healthy;
  for (Open& each : open.scenarios) {
    ScenarioSummary& summary = each.summary;
    summary.measured = each.throughputs.size();
    if (summary.asked > 0) summary.mean_failures = each.failures / static_cast<double>(summary.asked);
    if (summary.measured < summary.asked) series.always_measured = false;
    if (summary.measured > 0) {
      summary.gbytes_per_s = quartiles(each.throughputs);
      const double median = summary.gbytes_per_s.median;
      if (!healthy && (summary.label == "none" || summary.years == 0)) healthy = median;
      if (healthy && *healthy > 0) summary.change = median / *healthy - 1;
    }
    series.scenarios.push_back(std::move(summary));
  }
  std::vector<double> x, y;
  for (const Sample& sample : series.samples) {
    x.push_back(sample.failures);
    y.push_back(sample.gbytes_per_s);
  }
  if (auto line = stats::fit_line(x, y); line.ok()) series.line = line.value();
  return series;
}

Panel close(OpenPanel&& open) {
  Panel panel{std::move(open.group), std::move(open.fabric), std::move(open.traffic), {}, {}, {}, 0};
  for (OpenSeries& each : open.series) {
    panel.series.push_back(close(std::move(each)));
    for (const Sample& sample : panel.series.back().samples)
      panel.most_failures = std::max(panel.most_failures, sample.failures);
  }
  panel.crossings = crossings(panel.series, panel.most_failures);
  panel.advice = advise(panel);
  return panel;
}

/// A count; 0 for what is none.
std::uint64_t count_of(const Json& object, const char* name) {
  const double number = number_of(object, name);
  return number >= 0 && number < 0x1p63 ? static_cast<std::uint64_t>(number) : 0;
}

CollectiveRow collective_row(const Database::Row& row) {
  const Json& parameters = row.parameters;
  const Json& result = row.finished->result;
  CollectiveRow made;
  made.group = row.group;
  for (const char* name :
       {"assumptions", "operation", "bytes", "case", "source", "mean_ns", "strikes", "reach", "bit_error_rate", "seed"})
    made.parameters[name] = text_of(parameters, name);
  made.scheme = text_of(parameters, "protection");
  if (number_of(parameters, "copies") > 1) made.scheme += " x" + text_of(parameters, "copies");
  if (text_of(parameters, "dual_port") == "true") made.scheme += ", dual port";
  if (text_of(parameters, "regenerate") == "true") made.scheme += ", regenerating";
  if (number_of(parameters, "adaptive_calm") > 0) made.scheme += ", adaptive";
  made.mean_gap_ns = number_of(parameters, "mean_ns");
  made.bit_error_rate = number_of(parameters, "bit_error_rate");
  made.bytes = number_of(parameters, "bytes");
  const Json root = result.value("root", Json::object()), last = result.value("last_host", Json::object());
  made.root_ns = number_of(root, "mean_ns");
  made.root_low_ns = number_of(root, "low_ns");
  made.root_high_ns = number_of(root, "high_ns");
  made.last_ns = number_of(last, "mean_ns");
  made.last_low_ns = number_of(last, "low_ns");
  made.last_high_ns = number_of(last, "high_ns");
  made.collectives = count_of(result, "collectives");
  made.incomplete = count_of(result, "incomplete");
  made.wrong = count_of(result, "wrong");
  return made;
}

/// Mean of the line over what was measured; where it has none, of the samples.
double mean_throughput(const Series& series, double most) {
  if (series.line) return series.line->at(most / 2);
  double sum = 0;
  for (const Sample& sample : series.samples) sum += sample.gbytes_per_s;
  return sum / static_cast<double>(series.samples.size());
}

std::string failed_words(const Series& series) {
  std::string words;
  for (const ScenarioSummary& scenario : series.scenarios) {
    if (scenario.measured == scenario.asked) continue;
    std::string what;
    for (const auto& [outcome, count] : scenario.outcomes)
      if (outcome != "measured") what += (what.empty() ? "" : ", ") + outcome;
    words += fmt::format("{}{} of {} at '{}' ({})", words.empty() ? "" : "; ", scenario.asked - scenario.measured,
                         scenario.asked, scenario.label, what);
  }
  return words;
}

}  // namespace

std::vector<Crossing> crossings(std::span<const Series> series, double most) {
  std::vector<Crossing> found;
  const auto highest_at = [&](double x, const Series* but) -> const Series* {
    const Series* best = nullptr;
    for (const Series& each : series)
      if (each.line && &each != but && (best == nullptr || each.line->at(x) > best->line->at(x))) best = &each;
    return best;
  };
  const Series* best = highest_at(0, nullptr);
  for (double x = 0; best != nullptr;) {
    const Series* next = nullptr;
    double where = most;
    for (const Series& each : series) {
      if (!each.line || &each == best || each.line->slope <= best->line->slope) continue;
      const double at = (best->line->intercept - each.line->intercept) / (each.line->slope - best->line->slope);
      if (at >= x && at < where) {
        where = at;
        next = &each;
      }
    }
    if (next == nullptr) break;
    found.push_back({best->engine, next->engine, where, next->line->at(where)});
    best = next;
    x = where;
  }
  return found;
}

std::vector<std::string> advise(const Panel& panel) {
  std::vector<std::string> words;
  std::vector<const Series*> ranked;
  for (const Series& each : panel.series)
    if (!each.samples.empty()) ranked.push_back(&each);
  if (ranked.empty()) return {"No engine was measured."};
  const double most = panel.most_failures;
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Series* a, const Series* b) {
    if (a->always_measured != b->always_measured) return a->always_measured;
    return mean_throughput(*a, most) > mean_throughput(*b, most);
  });
  const Series& best = *ranked.front();
  std::string first = fmt::format("Take {}: {:.1f} GB/s on average over 0 to {:.0f} failures", best.engine,
                                  mean_throughput(best, most), most);
  if (best.line)
    first += fmt::format(" ({:.1f} without failures, {:+.3f} for each, R² {:.2f})", best.line->intercept,
                         best.line->slope, best.line->r2);
  if (!best.always_measured) first += ", though not even it was measured in every run";
  words.push_back(first + ".");
  for (const Series* each : ranked) {
    if (each == &best || !each->always_measured) continue;
    words.push_back(fmt::format("{} is {:.1f} % behind it.", each->engine,
                                100 * (1 - mean_throughput(*each, most) / mean_throughput(best, most))));
    break;
  }
  for (const Crossing& crossing : panel.crossings)
    words.push_back(fmt::format("From {:.0f} failures on the line of {} is above that of {} (at {:.1f} GB/s).",
                                crossing.failures, crossing.to, crossing.from, crossing.gbytes_per_s));
  for (const Series& each : panel.series)
    if (!each.always_measured && !each.samples.empty())
      words.push_back(fmt::format("{} did not serve every run: {}.", each.engine, failed_words(each)));
  return words;
}

Result<StudyRecord> analyse(const Database& database) {
  auto rows = database.rows();
  if (!rows.ok()) return rows.status();
  StudyRecord record;
  record.name = database.about().name;
  record.kind = database.about().kind;
  record.title = database.about().title;
  std::vector<OpenPanel> panels;
  for (const Database::Row& row : rows.value()) {
    ++record.points;
    if (row.finished) {
      ++record.finished;
      ++record.outcomes[row.finished->outcome];
      record.cpu_s += row.finished->cpu_s;
    }
    if (record.kind == "throughput") add(panels, row);
    if (record.kind == "collectives" && row.finished && row.finished->outcome == "measured")
      record.collectives.push_back(collective_row(row));
  }
  for (OpenPanel& panel : panels) {
    const bool any = std::any_of(panel.series.begin(), panel.series.end(), [](const OpenSeries& series) {
      return std::any_of(series.scenarios.begin(), series.scenarios.end(),
                         [](const Open& open) { return open.summary.asked > 0; });
    });
    if (any) record.panels.push_back(close(std::move(panel)));
  }
  return record;
}

}  // namespace holdfast::simulate::study
