#include "report/prediction_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "core/event/record.h"
#include "report/bar_plot.h"
#include "report/markup.h"
#include "report/timeline_picture.h"

namespace holdfast::report {
namespace {

/// No more than what a drawing needs to be looked at; nothing from outside.
constexpr std::string_view map_script = R"(<style>
.map svg { width: 100%; height: 34rem; border: 1px solid var(--line); cursor: grab; touch-action: none; }
.map output { display: block; white-space: pre-line; min-height: 1.5em; color: var(--soft); }
.map .found rect, .map path.found { stroke: #0b5fa5 !important; stroke-width: .3; }
</style>
<script>
for (const map of document.querySelectorAll('figure.map')) {
  const svg = map.querySelector('svg'), say = map.querySelector('output'), search = map.querySelector('input');
  const whole = svg.getAttribute('viewBox').split(' ').map(Number);
  let box = whole.slice(), held = null;
  const show = () => svg.setAttribute('viewBox', box.join(' '));
  const unit = () => Math.max(box[2] / svg.clientWidth, box[3] / svg.clientHeight);
  const place = event => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [point.x, point.y];
  };
  const enlarge = (by, x, y) => {
    if (whole[2] / (box[2] * by) > 60 || box[2] * by > 2 * whole[2]) return;
    box = [x + (box[0] - x) * by, y + (box[1] - y) * by, box[2] * by, box[3] * by];
    show();
  };
  svg.addEventListener('wheel', event => {
    event.preventDefault();
    enlarge(Math.exp(event.deltaY / 600), ...place(event));
  }, { passive: false });
  svg.addEventListener('pointerdown', event => { held = [event.clientX, event.clientY]; });
  svg.addEventListener('pointermove', event => {
    if (!held || event.buttons === 0) return;
    const scale = unit();
    box[0] += (held[0] - event.clientX) * scale;
    box[1] += (held[1] - event.clientY) * scale;
    held = [event.clientX, event.clientY];
    show();
  });
  svg.addEventListener('click', event => {
    const one = event.target.closest('g, path'), title = one && one.querySelector('title');
    if (title) say.textContent = title.textContent;
  });
  map.querySelector('button').addEventListener('click', () => { box = whole.slice(); show(); });
  search.addEventListener('input', () => {
    const words = search.value.trim().toLowerCase();
    let first = null, count = 0;
    for (const group of svg.querySelectorAll('g')) {
      const title = group.querySelector('title');
      const found = words !== '' && title && title.textContent.toLowerCase().includes(words);
      group.classList.toggle('found', found);
      if (found) { ++count; first = first || group; }
    }
    say.textContent = words === '' ? '' : count + ' found';
    if (!first) return;
    const at = first.getBBox(), size = Math.min(whole[2], 40);
    box = [at.x + at.width / 2 - size / 2, at.y + at.height / 2 - size / 2 * whole[3] / whole[2], size, size * whole[3] / whole[2]];
    show();
  });
}
</script>
)";

using namespace simulate::predict;
using Json = nlohmann::ordered_json;

std::string failures_of(const Outlook& outlook) {
  return outlook.healthy ? "as given" : outlook.failures;
}

bool several_placements(const PredictionRecord& record) {
  return std::ranges::any_of(
      record.outlooks, [&](const Outlook& outlook) { return outlook.placement != record.outlooks.front().placement; });
}

bool has_replicas(const PredictionRecord& record) {
  return std::ranges::any_of(record.outlooks, [](const Outlook& outlook) { return outlook.replicas > 1; });
}

bool has_transport(const PredictionRecord& record) {
  return std::ranges::any_of(record.outlooks, [](const Outlook& outlook) { return outlook.sender == "transport"; });
}

bool has_in_network(const PredictionRecord& record) {
  return std::ranges::any_of(record.outlooks,
                             [](const Outlook& outlook) { return outlook.collectives == "in-network"; });
}

std::string half_width(const Estimate& estimate, int digits) {
  return estimate.low ? fmt::format("{:.{}f}", (*estimate.high - *estimate.low) / 2, digits) : "-";
}

std::string otherwise(const Outlook& outlook) {
  std::string words;
  if (const auto& cut = outlook.interruption)
    words = fmt::format("{:.4g} packets lost, {:.4g} sent again", cut->lost, cut->sent_again) +
            (outlook.sender == "transport" ? "" : fmt::format(", longest stall {:.4g} ms", 1e3 * cut->longest_stall_s));
  for (const auto& [outcome, count] : outlook.outcomes)
    if (outcome != "measured") words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, outcome);
  if (!outlook.reason.empty()) words += ": " + outlook.reason;
  return words;
}

/// Before the last one.
void insert(std::vector<std::string>& cells, const std::vector<std::string>& more) {
  cells.insert(cells.end() - 1, more.begin(), more.end());
}

void add_senders(const PredictionRecord& record, Table& table) {
  insert(table.columns, {"sender", "against plain", "+/-"});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Outlook& outlook = record.outlooks[i];
    const auto& ratio = outlook.to_plain;
    insert(table.rows[i],
           {outlook.sender, ratio ? fmt::format("{:.4f}", ratio->mean) : "-", ratio ? half_width(*ratio, 4) : "-"});
  }
}

void add_collectives(const PredictionRecord& record, Table& table) {
  insert(table.columns, {"collectives", "against messages", "+/-"});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Outlook& outlook = record.outlooks[i];
    const auto& ratio = outlook.to_mpi;
    insert(table.rows[i], {outlook.collectives, ratio ? fmt::format("{:.4f}", ratio->mean) : "-",
                           ratio ? half_width(*ratio, 4) : "-"});
  }
}

void add_replicas(const PredictionRecord& record, Table& table) {
  insert(table.columns, {"replicas", "against unprotected", "+/-", "records", "corrections"});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Outlook& outlook = record.outlooks[i];
    const auto& ratio = outlook.to_unprotected;
    const auto& work = outlook.replication;
    insert(table.rows[i], {fmt::format("{}", outlook.replicas), ratio ? fmt::format("{:.4f}", ratio->mean) : "-",
                           ratio ? half_width(*ratio, 4) : "-", work ? fmt::format("{:.10g}", work->records) : "-",
                           work ? fmt::format("{:.4g}", work->corrections) : "-"});
  }
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
  if (has_replicas(record)) add_replicas(record, table);
  if (has_transport(record)) add_senders(record, table);
  if (has_in_network(record)) add_collectives(record, table);
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
  const bool replicas = has_replicas(record);
  const bool senders = has_transport(record);
  const bool collectives = has_in_network(record);
  if (collectives) table.columns.insert(table.columns.begin() + 3, "collectives");
  if (senders) table.columns.insert(table.columns.begin() + 3, "sender");
  if (replicas) table.columns.insert(table.columns.begin() + 3, "replicas");
  for (const Outlook& outlook : record.outlooks)
    for (const FullLink& link : std::span(outlook.links).first(std::min(most, outlook.links.size()))) {
      table.rows.push_back({outlook.engine, outlook.placement, failures_of(outlook), link.name,
                            fmt::format("{:.3f}", link.bytes / 1e6), fmt::format("{:.2f}", 100 * link.share)});
      if (collectives) table.rows.back().insert(table.rows.back().begin() + 3, outlook.collectives);
      if (senders) table.rows.back().insert(table.rows.back().begin() + 3, outlook.sender);
      if (replicas) table.rows.back().insert(table.rows.back().begin() + 3, fmt::format("{}", outlook.replicas));
    }
  return table;
}

/// As what follows a name.
std::string protection_of(const Outlook& outlook) {
  return (outlook.replicas > 1 ? fmt::format(", {} replicas", outlook.replicas) : "") +
         (outlook.sender == "transport" ? ", over the transport" : "") +
         (outlook.collectives == "in-network" ? ", collectives of switches" : "");
}

BarPlot bars(const PredictionRecord& record) {
  BarPlot plot{"Time of the job", "seconds, 95 % intervals over seeds", {}, {}};
  const bool placements = several_placements(record);
  for (const Outlook& outlook : record.outlooks) {
    std::string name = failures_of(outlook) + (placements ? ", " + outlook.placement : "");
    name += protection_of(outlook);
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

std::string title_of(const Outlook& outlook) {
  return fmt::format("{}: {}, {}, {}", outlook.healthy ? "Fabric as given" : "Slowest with failures", outlook.engine,
                     outlook.placement, failures_of(outlook)) +
         protection_of(outlook);
}

std::string timelines(const PredictionRecord& record) {
  std::string html;
  for (const std::size_t shown : record.shown)
    if (const Outlook& outlook = record.outlooks[shown]; outlook.timeline)
      html += "<figure>" + timeline_picture(title_of(outlook), *outlook.timeline) + "</figure>\n";
  return html;
}

/// Drawings that a wheel or a pinch enlarges, a drag moves and a search marks; a click says what a line or box is.
std::string drawings(const PredictionRecord& record) {
  std::string html;
  for (const std::size_t shown : record.shown)
    if (const Outlook& outlook = record.outlooks[shown]; !outlook.drawing.empty())
      html += "<figure class=\"map\"><figcaption>" + escaped(title_of(outlook)) +
              "</figcaption><input type=\"search\" placeholder=\"a switch's name\" aria-label=\"search\"> "
              "<button type=\"button\">whole</button><output></output>\n" +
              outlook.drawing + "</figure>\n";
  if (html.empty()) return html;
  return "<h2>The fabric</h2>\n<p>Lines are links between switches, as busy as their fullest one was in the first run; "
         "broken black lines failed. The wheel enlarges, a drag moves, a click says what a line or box is.</p>\n" +
         html + std::string(map_script);
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

std::string prediction_section(const PredictionRecord& record) {
  return "<p class=\"about\">" + escaped(about(record)) + "</p>\n" + list_html(record.advice, " class=\"advice\"") +
         "<figure>" + svg(bars(record)) + "</figure>\n" + table_html(scenario_table(record));
}

std::string prediction_html(const PredictionRecord& record) {
  std::string body = prediction_section(record);
  body += "<h2>What ranks do</h2>\n" + timelines(record);
  body += drawings(record);
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
    each["replicas"] = outlook.replicas;
    each["sender"] = outlook.sender;
    each["collectives"] = outlook.collectives;
    if (!outlook.reason.empty()) each["reason"] = outlook.reason;
    if (outlook.measured > 0) {
      each["time_s"] = estimate_json(outlook.time_s);
      if (outlook.ratio) each["ratio_to_healthy"] = estimate_json(*outlook.ratio);
      if (outlook.to_unprotected) each["ratio_to_unprotected"] = estimate_json(*outlook.to_unprotected);
      if (outlook.to_plain) each["ratio_to_plain"] = estimate_json(*outlook.to_plain);
      if (outlook.to_mpi) each["ratio_to_mpi_collectives"] = estimate_json(*outlook.to_mpi);
      if (const auto& work = outlook.replication)
        each["replication"] = {{"verified", work->verified},     {"records", work->records},
                               {"copies", work->copies},         {"copy_bytes", work->copy_bytes},
                               {"mismatches", work->mismatches}, {"corrections", work->corrections}};
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
