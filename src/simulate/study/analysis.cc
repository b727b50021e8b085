#include "simulate/study/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/stats/quantile.h"
#include "simulate/study/provenance.h"

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
  std::string group, fabric, traffic, options;
  std::vector<OpenSeries> series;
  std::map<std::string, std::size_t> stale;
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

/// Of {"simulate.mtu": "1024"}: "mtu 1024".
std::string options_of(const Json& parameters) {
  const auto options = parameters.find("options");
  if (options == parameters.end() || !options->is_object()) return "";
  std::string words;
  for (const auto& [name, value] : options->items())
    words += (words.empty() ? "" : ", ") + name.substr(name.rfind('.') + 1) + " " + text_of(*options, name.c_str());
  return words;
}

double number_of(const Json& object, const char* name, double absent = 0) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : absent;
}

void add(std::vector<OpenPanel>& panels, const Database::Row& row, const std::string& stale) {
  const Json& parameters = row.parameters;
  const std::string fabric = text_of(parameters, "fabric"), traffic = text_of(parameters, "traffic"),
                    options = options_of(parameters);
  OpenPanel& panel = find_or_make(
      panels,
      [&](const OpenPanel& p) {
        return p.group == row.group && p.fabric == fabric && p.traffic == traffic && p.options == options;
      },
      [&] { return OpenPanel{row.group, fabric, traffic, options, {}, {}}; });
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
  if (!stale.empty()) ++panel.stale[stale];
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

/// A line explains what was measured when it leaves less than half of its variance, or so little that there is hardly
/// anything to explain: an engine that failures do not slow down has a line with R² 0 that says just that.
bool fits(const Series& series) {
  constexpr double least_r2 = 0.5, little = 0.05;
  if (!series.line || series.samples.empty()) return false;
  if (series.line->r2 >= least_r2) return true;
  double squares = 0, sum = 0;
  for (const Sample& sample : series.samples) {
    const double off = sample.gbytes_per_s - series.line->at(sample.failures);
    squares += off * off;
    sum += sample.gbytes_per_s;
  }
  const auto count = static_cast<double>(series.samples.size());
  return std::sqrt(squares / count) <= little * sum / count;
}

/// Whether engines can be compared by their lines: one that was measured and has none that fits forbids it.
bool all_fit(const std::vector<Series>& series) {
  return std::ranges::all_of(series, [](const Series& each) { return each.samples.empty() || fits(each); });
}

/// Over the scenarios that were measured, each counting once however many seeds it has.
double mean_of_scenarios(const Series& series) {
  double sum = 0;
  std::size_t count = 0;
  for (const ScenarioSummary& scenario : series.scenarios) {
    if (scenario.measured == 0) continue;
    sum += scenario.gbytes_per_s.median;
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

double mean_throughput(const Series& series, double most, bool by_line) {
  return by_line ? series.line->at(most / 2) : mean_of_scenarios(series);
}

/// The median that was measured with nothing failed.
std::optional<double> healthy_throughput(const Series& series) {
  for (const ScenarioSummary& scenario : series.scenarios)
    if (scenario.measured > 0 && (scenario.label == "none" || scenario.years == 0)) return scenario.gbytes_per_s.median;
  return std::nullopt;
}

/// What is known of the engine besides: what was measured is told as measured, and a line only where it fits.
std::string particulars(const Series& series) {
  std::string words;
  if (const auto healthy = healthy_throughput(series))
    words = fmt::format("{:.1f} measured without failures", *healthy);
  if (!series.line) return words;
  const stats::Line& line = *series.line;
  if (!words.empty()) words += "; ";
  if (!fits(series)) return words + fmt::format("no line fits them, R² {:.2f}", line.r2);
  return words + fmt::format("line {:.1f} {:+.3f} for each failure, R² {:.2f}", line.intercept, line.slope, line.r2);
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
  Panel panel{
      std::move(open.group), std::move(open.fabric), std::move(open.traffic), std::move(open.options), {}, {}, {}, 0,
      std::move(open.stale)};
  for (OpenSeries& each : open.series) {
    panel.series.push_back(close(std::move(each)));
    for (const Sample& sample : panel.series.back().samples)
      panel.most_failures = std::max(panel.most_failures, sample.failures);
  }
  if (all_fit(panel.series)) panel.crossings = crossings(panel.series, panel.most_failures);
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
  for (const auto& [why, count] : panel.stale)
    words.push_back(fmt::format(
        "Stale: {} of the runs behind this: {}. The same 'holdfast study run' computes them anew.", count, why));
  const double most = panel.most_failures;
  const bool by_line = all_fit(panel.series);
  std::stable_sort(ranked.begin(), ranked.end(), [&](const Series* a, const Series* b) {
    if (a->always_measured != b->always_measured) return a->always_measured;
    return mean_throughput(*a, most, by_line) > mean_throughput(*b, most, by_line);
  });
  const Series& best = *ranked.front();
  std::string first = fmt::format("Take {}: {:.1f} GB/s on average over {}0 to {:.0f} failures", best.engine,
                                  mean_throughput(best, most, by_line), by_line ? "" : "what was measured, ", most);
  if (const std::string more = particulars(best); !more.empty()) first += " (" + more + ")";
  if (!best.always_measured) first += ", though not even it was measured in every run";
  words.push_back(first + ".");
  for (const Series* each : ranked) {
    if (each == &best || !each->always_measured) continue;
    words.push_back(
        fmt::format("{} is {:.1f} % behind it.", each->engine,
                    100 * (1 - mean_throughput(*each, most, by_line) / mean_throughput(best, most, by_line))));
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
  auto outdated = database.outdated();
  if (!outdated.ok()) return outdated.status();
  record.outdated = std::move(outdated).value();
  Staleness staleness(record.kind);
  std::vector<OpenPanel> panels;
  for (const Database::Row& row : rows.value()) {
    const std::string stale = row.finished ? staleness.of(row.parameters) : "";
    if (!stale.empty()) ++record.stale[stale];
    ++record.points;
    if (row.finished) {
      ++record.finished;
      ++record.outcomes[row.finished->outcome];
      record.cpu_s += row.finished->cpu_s;
    }
    if (record.kind == "throughput") add(panels, row, stale);
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
