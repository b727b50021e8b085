#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/markup/escape.h"
#include "plan/plan_record.h"
#include "plan/quantity.h"

namespace holdfast::plan {
namespace {

constexpr std::string_view style = R"(
:root { --ink: #1a2027; --soft: #5b6672; --line: #d8dde3; --paper: #ffffff; --tint: #f4f6f8; --mark: #0b5fa5; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.5rem 3rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-top: .9rem; border-top: 1px solid var(--line); }
.about { color: var(--soft); margin: 0; }
ul.advice { margin: .4rem 0 1rem; padding: .7rem 1rem .7rem 2rem; background: var(--tint); border-left: 4px solid var(--mark); }
ul.advice li { margin: .15rem 0; font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .4rem 0 1rem; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child, table.facts td:last-child { text-align: left; }
table.facts td:last-child { color: var(--soft); white-space: normal; }
.note { color: var(--soft); font-size: .9rem; margin: .25rem 0; }
figure { margin: .6rem 0 1rem; } figcaption { color: var(--soft); font-size: .9rem; }
svg text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink); }
@media print { main { padding: 0; } h2 { break-after: avoid; } table, figure { break-inside: avoid; } }
)";

// Distinct without colour vision too (P. Tol's bright scheme), and in grey by their order.
constexpr std::array<std::string_view, 6> colours{"#4477aa", "#ccbb44", "#ee6677", "#aa3377", "#228833", "#66ccee"};

using markup::escaped;

std::string table_html(const Table& table) {
  std::string html = "<div class=\"scroll\"><table><caption>" + escaped(table.title) + "</caption><thead><tr>";
  for (const std::string& column : table.columns) html += "<th scope=\"col\">" + escaped(column) + "</th>";
  html += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const Cell& cell : row) html += "<td>" + escaped(cell.text) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string facts_html(const std::vector<Fact>& facts) {
  std::string html = "<div class=\"scroll\"><table class=\"facts\"><caption>What this rests on</caption><tbody>\n";
  for (const Fact& fact : facts) {
    html += "<tr><td>" + escaped(fact.name) + "</td><td>" + escaped(fact.cell.text) + "</td><td>" +
            escaped(fact.source) + "</td></tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

double length_of(const Bars::Bar& bar) {
  return std::accumulate(bar.values.begin(), bar.values.end(), 0.0);
}

std::string legend_svg(const Bars& bars, double left) {
  std::string svg;
  double x = left;
  for (std::size_t i = 0; i < bars.series.size(); ++i) {
    svg += fmt::format("<rect x=\"{:.0f}\" y=\"4\" width=\"12\" height=\"12\" fill=\"{}\"/>", x,
                       colours[i % colours.size()]);
    svg += fmt::format("<text x=\"{:.0f}\" y=\"14\">{}</text>\n", x + 17, escaped(bars.series[i]));
    x += 40 + 7.5 * static_cast<double>(bars.series[i].size());
  }
  return svg;
}

std::string bars_svg(const Bars& bars) {
  constexpr double width = 900, left = 190, row = 26, top = 26, label = 100;
  double longest = 0;
  for (const Bars::Bar& bar : bars.bars) longest = std::max(longest, length_of(bar));
  const double scale = longest > 0 ? (width - left - label) / longest : 0;
  const double height = top + row * static_cast<double>(bars.bars.size());
  std::string svg = fmt::format(
      "<figure><figcaption>{0}</figcaption><div class=\"scroll\"><svg role=\"img\" aria-label=\"{0}\" "
      "viewBox=\"0 0 {1:.0f} {2:.0f}\" width=\"{1:.0f}\" height=\"{2:.0f}\">\n",
      escaped(bars.title), width, height);
  svg += legend_svg(bars, left);
  double y = top;
  for (const Bars::Bar& bar : bars.bars) {
    svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>", left - 8, y + 16,
                       escaped(bar.label));
    double x = left;
    for (std::size_t i = 0; i < bar.values.size(); ++i) {
      const double length = bar.values[i] * scale;
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"19\" fill=\"{}\"><title>{}: {}</title></rect>", x,
          y + 2, length, colours[i % colours.size()], escaped(bars.series[i]),
          format_quantity(bar.values[i], Dimension::count));
      x += length;
    }
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n", x + 6, y + 16,
                       format_quantity(length_of(bar), Dimension::count));
    y += row;
  }
  return svg + "</svg></div></figure>\n";
}

std::string section_html(const Section& section) {
  std::string html = fmt::format("<section id=\"{}\"><h2>{}</h2>\n", escaped(section.id), escaped(section.title));
  if (!section.advice.empty()) {
    html += "<ul class=\"advice\">";
    for (const std::string& advice : section.advice) html += "<li>" + escaped(advice) + "</li>";
    html += "</ul>\n";
  }
  for (const Bars& bars : section.charts) html += bars_svg(bars);
  for (const Table& table : section.tables) html += table_html(table);
  if (!section.facts.empty()) html += facts_html(section.facts);
  for (const std::string& note : section.notes) html += "<p class=\"note\">" + escaped(note) + "</p>\n";
  return html + "</section>\n";
}

}  // namespace

std::string plan_html(const Plan& plan) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>";
  html += escaped(plan.title) + "</title><style>" + std::string(style) + "</style></head><body><main>\n<h1>" +
          escaped(plan.title) + "</h1>\n";
  if (!plan.about.empty()) html += "<p class=\"about\">" + escaped(plan.about) + "</p>\n";
  for (const Section& section : plan.sections) html += section_html(section);
  return html + "</main></body></html>\n";
}

}  // namespace holdfast::plan
