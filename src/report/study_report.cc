#include "report/study_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/event/record.h"
#include "report/plot.h"

namespace holdfast::report {
namespace {

using namespace simulate::study;
using Json = nlohmann::ordered_json;

std::string number(double value, int digits = 1) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}

std::string title_of(const Panel& panel) {
  return fmt::format("{}: {}, {}{}{}", panel.group, panel.fabric, panel.traffic, panel.options.empty() ? "" : ", ",
                     panel.options);
}

/// For the name of a file or an anchor: letters, digits and single dashes.
std::string plain_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
    if (good)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

/// How the scenarios of a panel are called in little space.
class ShortLabels {
 public:
  explicit ShortLabels(const Panel& panel) {
    bool first = true;
    for (const Series& series : panel.series)
      for (const ScenarioSummary& scenario : series.scenarios) {
        aged_ = aged_ && scenario.years >= 0;
        if (scenario.label == "none") continue;
        const std::size_t space = scenario.label.find_last_of(' ') + 1;
        const std::string prefix = scenario.label.substr(0, space);
        if (first)
          prefix_ = prefix;
        else if (prefix != prefix_)
          prefix_.clear();
        first = false;
      }
  }
  std::string of(const ScenarioSummary& scenario) const {
    if (aged_) return fmt::format("{:g}", scenario.years);
    if (scenario.label == "none") return "0";
    return scenario.label.starts_with(prefix_) ? scenario.label.substr(prefix_.size()) : scenario.label;
  }
  std::string axis() const {
    if (aged_) return "years";
    return prefix_.empty() ? "failures" : "failures: " + prefix_.substr(0, prefix_.size() - 1);
  }

 private:
  bool aged_ = true;
  std::string prefix_;
};

Table line_table(const Panel& panel) {
  Table table{"Linear regression of throughput on failed components",
              {"engine", "runs", "intercept GB/s", "slope GB/s each", "R²", "at the most failures", "not measured"},
              {}};
  for (const Series& series : panel.series) {
    std::size_t lost = 0;
    std::string why;
    for (const ScenarioSummary& scenario : series.scenarios) {
      lost += scenario.asked - scenario.measured;
      for (const auto& [outcome, count] : scenario.outcomes)
        if (outcome != "measured" && why.find(outcome) == std::string::npos) why += (why.empty() ? "" : ", ") + outcome;
    }
    std::vector<std::string> row = {series.engine,
                                    std::to_string(series.samples.size()),
                                    "-",
                                    "-",
                                    "-",
                                    "-",
                                    lost == 0 ? "0" : fmt::format("{} ({})", lost, why)};
    if (series.line) {
      row[2] = number(series.line->intercept, 2);
      row[3] = number(series.line->slope, 3);
      row[4] = number(series.line->r2, 2);
      row[5] = number(series.line->at(panel.most_failures), 2);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table scenario_table(const Panel& panel) {
  const ShortLabels labels(panel);
  Table table{"Throughput in GB/s by scenario",
              {"engine", labels.axis(), "failed", "measured", "least", "lower quartile", "median", "upper quartile",
               "greatest", "against 0", "otherwise"},
              {}};
  for (const Series& series : panel.series)
    for (const ScenarioSummary& scenario : series.scenarios) {
      if (scenario.asked == 0) continue;
      std::string other;
      for (const auto& [outcome, count] : scenario.outcomes)
        if (outcome != "measured") other += fmt::format("{}{} {}", other.empty() ? "" : ", ", count, outcome);
      const Quartiles& q = scenario.gbytes_per_s;
      const bool any = scenario.measured > 0;
      const auto cell = [&](double value) { return any ? number(value) : std::string("-"); };
      table.rows.push_back({series.engine, labels.of(scenario), number(scenario.mean_failures),
                            fmt::format("{}", scenario.measured), cell(q.least), cell(q.lower), cell(q.median),
                            cell(q.upper), cell(q.greatest),
                            scenario.change ? fmt::format("{:+.1f} %", 100 * *scenario.change) : "-", other});
    }
  return table;
}

ScatterPlot line_plot(const Panel& panel) {
  ScatterPlot plot{title_of(panel), "failed components", "throughput, GB/s", false, false, {}};
  for (const Series& series : panel.series) {
    if (series.samples.empty()) continue;
    PlotSeries drawn{series.engine, {}, false, {}};
    double most = 0;
    for (const Sample& sample : series.samples) {
      drawn.marks.push_back({sample.failures, sample.gbytes_per_s});
      most = std::max(most, sample.failures);
    }
    if (series.line) drawn.line = PlotSeries::Segment{0, series.line->at(0), most, series.line->at(most)};
    plot.series.push_back(std::move(drawn));
  }
  return plot;
}

WhiskerPlot whisker_plot(const Panel& panel) {
  const ShortLabels labels(panel);
  WhiskerPlot plot{title_of(panel), labels.axis(), "throughput, GB/s", {}, {}};
  const auto place = [&](const std::string& name) {
    const auto found = std::find(plot.categories.begin(), plot.categories.end(), name);
    if (found != plot.categories.end()) return static_cast<std::size_t>(found - plot.categories.begin());
    plot.categories.push_back(name);
    return plot.categories.size() - 1;
  };
  for (const Series& series : panel.series) {
    if (series.samples.empty()) continue;
    WhiskerPlot::Group group{series.engine, {}};
    for (const ScenarioSummary& scenario : series.scenarios) {
      if (scenario.asked == 0) continue;
      const std::size_t at = place(labels.of(scenario));
      if (group.boxes.size() <= at) group.boxes.resize(at + 1);
      const Quartiles& q = scenario.gbytes_per_s;
      if (scenario.measured > 0)
        group.boxes[at] = WhiskerPlot::Box{q.least, q.lower, q.median, q.upper, q.greatest, scenario.measured};
    }
    plot.groups.push_back(std::move(group));
  }
  return plot;
}

/// Collectives that one plot shows: a group whose parameters but one agree, and what the x axis is.
struct Figure {
  std::string title;
  std::string x_name;
  bool x_logarithmic = true;
  std::vector<const CollectiveRow*> rows;
};

double x_of(const CollectiveRow& row, const std::string& name) {
  if (name == "mean_ns") return row.mean_gap_ns;
  return name == "bit_error_rate" ? row.bit_error_rate : row.bytes;
}

/// The group's x axis: the first of these that takes several values above 0.
std::string x_parameter(const std::vector<const CollectiveRow*>& rows) {
  for (const char* name : {"mean_ns", "bit_error_rate", "bytes"}) {
    std::set<double> values;
    for (const CollectiveRow* row : rows)
      if (x_of(*row, name) > 0) values.insert(x_of(*row, name));
    if (values.size() > 1) return name;
  }
  return "";
}

std::vector<Figure> figures(const StudyRecord& record) {
  std::vector<std::pair<std::string, std::vector<const CollectiveRow*>>> groups;
  for (const CollectiveRow& row : record.collectives) {
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == row.group; });
    if (found == groups.end()) found = groups.insert(groups.end(), {row.group, {}});
    found->second.push_back(&row);
  }
  std::vector<Figure> all;
  for (const auto& [group, rows] : groups) {
    const std::string x = x_parameter(rows);
    if (x.empty()) continue;
    std::set<std::string> varying;
    for (const auto& [name, value] : rows.front()->parameters)
      for (const CollectiveRow* row : rows)
        if (name != x && row->parameters.at(name) != value) varying.insert(name);
    std::vector<Figure> here;
    for (const CollectiveRow* row : rows) {
      if (!(x_of(*row, x) > 0)) continue;
      std::string title = group;
      for (const std::string& name : varying) title += ", " + row->parameters.at(name);
      auto found = std::find_if(here.begin(), here.end(), [&](const Figure& f) { return f.title == title; });
      if (found == here.end()) found = here.insert(here.end(), {title, x, true, {}});
      found->rows.push_back(row);
    }
    for (Figure& figure : here) all.push_back(std::move(figure));
  }
  return all;
}

ScatterPlot collective_plot(const Figure& figure) {
  const std::string x_name = figure.x_name == "mean_ns"          ? "mean time between errors, ns"
                             : figure.x_name == "bit_error_rate" ? "bit error rate"
                                                                 : "bytes of operands";
  ScatterPlot plot{figure.title, x_name, "until the last host, ns", true, false, {}};
  for (const CollectiveRow* row : figure.rows) {
    auto found = std::find_if(plot.series.begin(), plot.series.end(),
                              [&](const PlotSeries& series) { return series.name == row->scheme; });
    if (found == plot.series.end()) found = plot.series.insert(plot.series.end(), {row->scheme, {}, true, {}});
    found->marks.push_back({x_of(*row, figure.x_name), row->last_ns, row->last_low_ns, row->last_high_ns});
  }
  for (PlotSeries& series : plot.series)
    std::sort(series.marks.begin(), series.marks.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  return plot;
}

Table collective_table(const StudyRecord& record) {
  Table table{"Collectives: mean and half of its interval, ns",
              {"group", "set", "operation", "bytes", "scheme", "case", "source", "mean gap ns", "strikes", "reach",
               "bit errors", "collectives", "root", "root half", "last host", "last half", "given up", "wrong"},
              {}};
  for (const CollectiveRow& row : record.collectives) {
    const auto& p = row.parameters;
    table.rows.push_back({row.group, p.at("assumptions"), p.at("operation"), p.at("bytes"), row.scheme, p.at("case"),
                          p.at("source"), fmt::format("{:g}", row.mean_gap_ns), p.at("strikes"), p.at("reach"),
                          fmt::format("{:g}", row.bit_error_rate), std::to_string(row.collectives), number(row.root_ns),
                          number((row.root_high_ns - row.root_low_ns) / 2), number(row.last_ns),
                          number((row.last_high_ns - row.last_low_ns) / 2), std::to_string(row.incomplete),
                          std::to_string(row.wrong)});
  }
  return table;
}

std::string about(const StudyRecord& record) {
  std::string words = fmt::format("{} of {} points have ended", record.finished, record.points);
  for (const auto& [outcome, count] : record.outcomes) words += fmt::format(", {} {}", count, outcome);
  words += fmt::format("; {:.0f} s of CPU time.", record.cpu_s);
  for (const auto& [why, count] : record.stale)
    words += fmt::format(" {} of them {} stale ({}): the same 'holdfast study run' computes them anew.", count,
                         count == 1 ? "is" : "are", why);
  for (const auto& [why, count] : record.outdated)
    words += fmt::format(" {} more {} kept and not used ({}).", count, count == 1 ? "is" : "are", why);
  return words;
}

Table csv_table(const StudyRecord& record) {
  if (record.kind == "collectives") return collective_table(record);
  Table table{
      "",
      {"group", "fabric", "traffic", "options", "engine", "failures", "years", "failed", "asked", "measured",
       "least_gbps", "lower_gbps", "median_gbps", "upper_gbps", "greatest_gbps", "intercept_gbps", "slope_gbps", "r2"},
      {}};
  for (const Panel& panel : record.panels)
    for (const Series& series : panel.series)
      for (const ScenarioSummary& scenario : series.scenarios) {
        const Quartiles& q = scenario.gbytes_per_s;
        std::vector<std::string> row = {panel.group,
                                        panel.fabric,
                                        panel.traffic,
                                        panel.options,
                                        series.engine,
                                        scenario.label,
                                        scenario.years < 0 ? "" : fmt::format("{:g}", scenario.years),
                                        number(scenario.mean_failures, 2),
                                        std::to_string(scenario.asked),
                                        std::to_string(scenario.measured)};
        for (const double value : {q.least, q.lower, q.median, q.upper, q.greatest})
          row.push_back(scenario.measured > 0 ? number(value, 6) : "");
        for (const bool which : {true, false})
          row.push_back(series.line ? number(which ? series.line->intercept : series.line->slope, 6) : "");
        row.push_back(series.line ? number(series.line->r2, 6) : "");
        table.rows.push_back(std::move(row));
      }
  return table;
}

Json series_json(const Series& series) {
  Json json = {{"engine", series.engine}, {"always_measured", series.always_measured}};
  if (series.line)
    json["line"] = {{"intercept_gbytes_per_s", series.line->intercept},
                    {"slope_gbytes_per_s", series.line->slope},
                    {"r2", series.line->r2},
                    {"runs", series.line->count}};
  json["scenarios"] = Json::array();
  for (const ScenarioSummary& scenario : series.scenarios) {
    Json each = {{"failures", scenario.label}, {"failed", scenario.mean_failures}, {"outcomes", scenario.outcomes}};
    if (scenario.years >= 0) each["years"] = scenario.years;
    const Quartiles& q = scenario.gbytes_per_s;
    if (scenario.measured > 0) each["gbytes_per_s"] = {q.least, q.lower, q.median, q.upper, q.greatest};
    if (!scenario.reason.empty()) each["reason"] = scenario.reason;
    json["scenarios"].push_back(std::move(each));
  }
  return json;
}

}  // namespace

std::string study_text(const StudyRecord& record) {
  std::string text = record.name + (record.title.empty() ? "" : ": " + record.title) + "\n" + about(record) + "\n";
  for (const Panel& panel : record.panels) {
    text += "\n" + title_of(panel) + "\n" + table_text(line_table(panel)) + table_text(scenario_table(panel));
    for (const std::string& words : panel.advice) text += "- " + words + "\n";
  }
  if (record.kind == "collectives") text += "\n" + table_text(collective_table(record));
  return text;
}

std::string study_html(const StudyRecord& record) {
  std::string body =
      "<p class=\"about\">" + escaped(record.title) + "</p><p class=\"about\">" + escaped(about(record)) + "</p>\n";
  if (record.panels.size() > 1) {
    body += "<nav><ul>";
    for (const Panel& panel : record.panels)
      body += "<li><a href=\"#" + plain_name(title_of(panel)) + "\">" + escaped(title_of(panel)) + "</a></li>";
    body += "</ul></nav>\n";
  }
  for (const Panel& panel : record.panels) {
    body += "<section id=\"" + plain_name(title_of(panel)) + "\"><h2>" + escaped(title_of(panel)) +
            "</h2>\n<ul class=\"advice\">";
    for (const std::string& words : panel.advice) body += "<li>" + escaped(words) + "</li>";
    body += "</ul>\n<figure>" + svg(line_plot(panel)) + "</figure>\n<figure>" + svg(whisker_plot(panel)) +
            "</figure>\n" + table_html(line_table(panel)) + table_html(scenario_table(panel)) + "</section>\n";
  }
  if (record.kind == "collectives") {
    for (const Figure& figure : figures(record)) body += "<figure>" + svg(collective_plot(figure)) + "</figure>\n";
    body += table_html(collective_table(record));
  }
  return page_html(record.name, body);
}

std::string study_csv(const StudyRecord& record) {
  return table_csv(csv_table(record));
}

nlohmann::ordered_json study_json(const StudyRecord& record) {
  Json json = event::make_record("holdfast.study-report", 1);
  json["study"] = record.name;
  json["title"] = record.title;
  json["kind"] = record.kind;
  json["points"] = record.points;
  json["finished"] = record.finished;
  json["outcomes"] = record.outcomes;
  json["cpu_s"] = record.cpu_s;
  json["stale"] = record.stale;
  json["outdated"] = record.outdated;
  json["panels"] = Json::array();
  for (const Panel& panel : record.panels) {
    Json each = {{"group", panel.group}, {"fabric", panel.fabric}, {"traffic", panel.traffic}};
    if (!panel.options.empty()) each["options"] = panel.options;
    each["advice"] = panel.advice;
    each["crossings"] = Json::array();
    for (const Crossing& crossing : panel.crossings)
      each["crossings"].push_back({{"from", crossing.from},
                                   {"to", crossing.to},
                                   {"failures", crossing.failures},
                                   {"gbytes_per_s", crossing.gbytes_per_s}});
    each["engines"] = Json::array();
    for (const Series& series : panel.series) each["engines"].push_back(series_json(series));
    json["panels"].push_back(std::move(each));
  }
  json["collectives"] = Json::array();
  for (const CollectiveRow& row : record.collectives)
    json["collectives"].push_back({{"group", row.group},
                                   {"scheme", row.scheme},
                                   {"parameters", row.parameters},
                                   {"collectives", row.collectives},
                                   {"root_ns", {row.root_low_ns, row.root_ns, row.root_high_ns}},
                                   {"last_host_ns", {row.last_low_ns, row.last_ns, row.last_high_ns}},
                                   {"incomplete", row.incomplete},
                                   {"wrong", row.wrong}});
  return json;
}

std::vector<std::pair<std::string, std::string>> study_plots(const StudyRecord& record) {
  std::vector<std::pair<std::string, std::string>> plots;
  for (const Panel& panel : record.panels) {
    const std::string name = plain_name(title_of(panel));
    plots.emplace_back(name + "-lines", svg(line_plot(panel)));
    plots.emplace_back(name + "-whiskers", svg(whisker_plot(panel)));
  }
  for (const Figure& figure : figures(record))
    plots.emplace_back(plain_name(figure.title), svg(collective_plot(figure)));
  return plots;
}

}  // namespace holdfast::report
