#include "report/markup.h"

#include <algorithm>

namespace holdfast::report {
namespace {

constexpr std::string_view style = R"(
:root { --ink: #1a2027; --soft: #5b6672; --line: #d8dde3; --paper: #ffffff; --tint: #f4f6f8; --mark: #0b5fa5; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 2rem 1.5rem 3rem; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-top: .9rem; border-top: 1px solid var(--line); }
nav ul { columns: 2; padding-left: 1.2rem; } nav a { color: var(--mark); }
.about { color: var(--soft); margin: 0 0 .5rem; }
ul.advice { margin: .4rem 0 1rem; padding: .7rem 1rem .7rem 2rem; background: var(--tint); border-left: 4px solid var(--mark); }
ul.advice li:first-child { font-weight: 600; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .4rem 0 1rem; font-size: .88rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { padding: .22rem .8rem .22rem 0; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
td.number { text-align: right; }
figure { margin: .6rem 0 1rem; }
svg { max-width: 100%; height: auto; }
@media print { main { padding: 0; } h2 { break-after: avoid; } table, figure { break-inside: avoid; } nav { display: none; } }
)";

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789+-.,%e ") == std::string_view::npos;
}

/// Letters on a terminal: bytes that do not continue a UTF-8 sequence.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + csv_cell(cells[i]);
  return line + "\n";
}

}  // namespace

std::string table_html(const Table& table) {
  std::string html = "<div class=\"scroll\"><table><caption>" + escaped(table.title) + "</caption><thead><tr>";
  for (const std::string& column : table.columns) html += "<th scope=\"col\">" + escaped(column) + "</th>";
  html += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row)
      html += (is_number(cell) ? "<td class=\"number\">" : "<td>") + escaped(cell) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string table_text(const Table& table) {
  std::vector<std::size_t> widths;
  for (const std::string& column : table.columns) widths.push_back(width_of(column));
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::string text = table.title.empty() ? "" : table.title + "\n";
  const auto add = [&](const std::vector<std::string>& cells, bool heading) {
    std::string line = "  ";
    for (std::size_t i = 0; i < cells.size() && i < widths.size(); ++i) {
      const std::string padding(widths[i] - width_of(cells[i]), ' ');
      line += !heading && is_number(cells[i]) ? padding + cells[i] : cells[i] + padding;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add(table.columns, true);
  for (const auto& row : table.rows) add(row, false);
  return text;
}

std::string table_csv(const Table& table) {
  std::string text = csv_line(table.columns);
  for (const auto& row : table.rows) text += csv_line(row);
  return text;
}

std::string page_html(const std::string& title, const std::string& body) {
  return "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>" +
         escaped(title) + "</title><style>" + std::string(style) + "</style></head><body><main>\n<h1>" +
         escaped(title) + "</h1>\n" + body + "</main></body></html>\n";
}

}  // namespace holdfast::report
