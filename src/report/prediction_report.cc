#include "report/prediction_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>

#include "core/event/record.h"
#include "report/bar_plot.h"
#include "report/markup.h"
#include "report/timeline_picture.h"

namespace holdfast::report {
namespace {

using namespace simulate::predict;
using Json = nlohmann::ordered_json;

std::string failures_of(const Outlook& outlook) {
  return outlook.healthy ? "as given" : outlook.failures;
}

bool several_placements(const PredictionRecord& record) {
  return std::ranges::any_of(
      record.outlooks, [&](const Outlook& outlook) { return outlook.placement != record.outlooks.front().placement; });
}

std::string half_width(const Estimate& estimate, int digits) {
  return estimate.low ? fmt::format("{:.{}f}", (*estimate.high - *estimate.low) / 2, digits) : "-";
}

std::string otherwise(const Outlook& outlook) {
  std::string words;
  if (const auto& cut = outlook.interruption)
    words = fmt::format("{:.4g} packets lost, {:.4g} sent again, longest stall {:.4g} ms", cut->lost, cut->sent_again,
                        1e3 * cut->longest_stall_s);
  for (const auto& [outcome, count] : outlook.outcomes)
    if (outcome != "measured") words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, outcome);
  if (!outlook.reason.empty()) words += ": " + outlook.reason;
  return words;
}

Table scenario_table(const PredictionRecord& record) {
  Table table{"Times until the job's last rank ends; intervals of 95 % over seeds",
              {"engine", "placement", "failed parts", "failed", "runs", "time s", "+/-", "to healthy", "+/-",
               "computing %", "waiting %", "otherwise"},
              {}};
  for (const Outlook& outlook : record.outlooks) {
    const bool any = outlook.measured > 0;
    const auto cell = [&](const std::string& text) { return any ? text : std::string("-"); };
    table.rows.push_back(
        {outlook.engine, outlook.placement, failures_of(outlook), fmt::format("{:.3g}", outlook.failed),
         fmt::format("{}", outlook.measured), cell(fmt::format("{:.6f}", outlook.time_s.mean)),
         cell(half_width(outlook.time_s, 6)), outlook.ratio ? fmt::format("{:.4f}", outlook.ratio->mean) : "-",
         outlook.ratio ? half_width(*outlook.ratio, 4) : "-", cell(fmt::format("{:.1f}", 100 * outlook.computing)),
         cell(fmt::format("{:.1f}", 100 * outlook.waiting)), otherwise(outlook)});
  }
  if (std::ranges::all_of(table.rows, [](const auto& row) { return row.back().empty(); })) {
    table.columns.pop_back();
    for (auto& row : table.rows) row.pop_back();
  }
  return table;
}

/// `most` of each scenario.
Table link_table(const PredictionRecord& record, std::size_t most) {
  Table table{"Fullest links: what leaves by them, and the share of the time that their data rate needs for it",
              {"engine", "placement", "failed parts", "link", "MB", "busy %"},
              {}};
  for (const Outlook& outlook : record.outlooks)
    for (const FullLink& link : outlook.links | std::views::take(most))
      table.rows.push_back({outlook.engine, outlook.placement, failures_of(outlook), link.name,
                            fmt::format("{:.3f}", link.bytes / 1e6), fmt::format("{:.2f}", 100 * link.share)});
  return table;
}

BarPlot bars(const PredictionRecord& record) {
  BarPlot plot{"Time of the job", "seconds, 95 % intervals over seeds", {}, {}};
  const bool placements = several_placements(record);
  for (const Outlook& outlook : record.outlooks) {
    const std::string name = failures_of(outlook) + (placements ? ", " + outlook.placement : "");
    auto category = std::ranges::find(plot.categories, name, &BarPlot::Category::name);
    if (category == plot.categories.end()) category = plot.categories.insert(plot.categories.end(), {name, {}});
    auto series = std::ranges::find(plot.series, outlook.engine);
    if (series == plot.series.end()) series = plot.series.insert(plot.series.end(), outlook.engine);
    BarPlot::Bar bar;
    bar.series = static_cast<std::size_t>(series - plot.series.begin());
    if (outlook.measured > 0) {
      bar.value = outlook.time_s.mean;
      bar.low = outlook.time_s.low;
      bar.high = outlook.time_s.high;
      bar.words = fmt::format("{:.4g} s", outlook.time_s.mean);
      if (outlook.ratio && !outlook.healthy) bar.words += fmt::format(", x {:.3f}", outlook.ratio->mean);
    } else {
      bar.words = outlook.asked == 0 ? "not run" : outlook.engine + ": " + outlook.outcomes.begin()->first;
    }
    category->bars.push_back(std::move(bar));
  }
  return plot;
}

std::string about(const PredictionRecord& record) {
  return fmt::format("{} ranks of {}, recorded in {:.6f} s, on {}; collectives by the rules of {}; {} of {} runs",
                     record.ranks, record.trace, record.recorded_s, record.fabric, record.mpi, record.finished,
                     record.points);
}

std::string list_html(const std::vector<std::string>& lines, const char* style = "") {
  std::string html = fmt::format("<ul{}>", style);
  for (const std::string& line : lines) html += "<li>" + escaped(line) + "</li>";
  return html + "</ul>\n";
}

std::string timelines(const PredictionRecord& record) {
  const auto drawn = [](const Outlook& outlook) { return outlook.measured > 0 && outlook.timeline.has_value(); };
  const auto healthy =
      std::ranges::find_if(record.outlooks, [&](const Outlook& outlook) { return outlook.healthy && drawn(outlook); });
  const Outlook* slowest = nullptr;
  for (const Outlook& outlook : record.outlooks)
    if (drawn(outlook) && !outlook.healthy && (slowest == nullptr || outlook.time_s.mean > slowest->time_s.mean))
      slowest = &outlook;
  std::string html;
  const auto draw = [&](const char* which, const Outlook& outlook) {
    html +=
        "<figure>" +
        timeline_picture(fmt::format("{}: {}, {}, {}", which, outlook.engine, outlook.placement, failures_of(outlook)),
                         *outlook.timeline) +
        "</figure>\n";
  };
  if (healthy != record.outlooks.end()) draw("Fabric as given", *healthy);
  if (slowest != nullptr) draw("Slowest with failures", *slowest);
  return html;
}

Json estimate_json(const Estimate& estimate) {
  Json json = {{"mean", estimate.mean}};
  if (estimate.low) json["interval_95"] = {*estimate.low, *estimate.high};
  return json;
}

}  // namespace

std::string prediction_text(const PredictionRecord& record) {
  std::string text = about(record) + "\n\n" + table_text(scenario_table(record));
  if (const Table links = link_table(record, 1); !links.rows.empty()) text += "\n" + table_text(links);
  text += "\n";
  for (const std::string& words : record.advice) text += "- " + words + "\n";
  for (const std::string& note : record.notes) text += "note: " + note + "\n";
  if (!record.assumed.empty()) {
    text += "assumed, not measured (holdfast calibrate):";
    for (const std::string& one : record.assumed) text += "\n  " + one;
    text += "\n";
  }
  return text;
}

std::string prediction_html(const PredictionRecord& record) {
  std::string body = "<p class=\"about\">" + escaped(about(record)) + "</p>\n";
  body += list_html(record.advice, " class=\"advice\"");
  body += "<figure>" + svg(bars(record)) + "</figure>\n" + table_html(scenario_table(record));
  body += "<h2>What ranks do</h2>\n" + timelines(record);
  if (const Table links = link_table(record, 3); !links.rows.empty()) body += "<h2>Links</h2>\n" + table_html(links);
  body += "<h2>What this rests on</h2>\n";
  if (!record.assumed.empty())
    body +=
        "<p>Assumed, not measured; <code>holdfast calibrate</code> measures them:</p>\n" + list_html(record.assumed);
  if (!record.notes.empty()) body += "<p>Of the recording and the fabric:</p>\n" + list_html(record.notes);
  if (record.assumed.empty() && record.notes.empty()) body += "<p>Every parameter of the MPI was given.</p>\n";
  return page_html(record.trace, body);
}

Json prediction_json(const PredictionRecord& record) {
  Json json = event::make_record("holdfast.prediction", 1);
  json["trace"] = record.trace;
  json["fabric"] = record.fabric;
  json["rules"] = record.mpi;
  json["ranks"] = record.ranks;
  json["recorded_s"] = record.recorded_s;
  json["runs"] = record.points;
  json["finished"] = record.finished;
  json["scenarios"] = Json::array();
  for (const Outlook& outlook : record.outlooks) {
    Json each = {{"engine", outlook.engine},    {"placement", outlook.placement}, {"failures", outlook.failures},
                 {"failed", outlook.failed},    {"asked", outlook.asked},         {"measured", outlook.measured},
                 {"outcomes", outlook.outcomes}};
    if (!outlook.reason.empty()) each["reason"] = outlook.reason;
    if (outlook.measured > 0) {
      each["time_s"] = estimate_json(outlook.time_s);
      if (outlook.ratio) each["ratio_to_healthy"] = estimate_json(*outlook.ratio);
      each["computing_share"] = outlook.computing;
      each["waiting_share"] = outlook.waiting;
      if (const auto& cut = outlook.interruption)
        each["interruption"] = {{"packets_lost", cut->lost},
                                {"packets_sent_again", cut->sent_again},
                                {"longest_stall_s", cut->longest_stall_s}};
      each["links"] = Json::array();
      for (const FullLink& link : outlook.links)
        each["links"].push_back({{"name", link.name}, {"bytes", link.bytes}, {"busy_share", link.share}});
    }
    json["scenarios"].push_back(std::move(each));
  }
  json["advice"] = record.advice;
  json["notes"] = record.notes;
  json["assumed"] = record.assumed;
  return json;
}

}  // namespace holdfast::report
