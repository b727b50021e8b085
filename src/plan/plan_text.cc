#include <algorithm>

#include "plan/plan_record.h"

namespace holdfast::plan {
namespace {

// Columns that a terminal needs for UTF-8 text of letters that are one column each.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t used = columns_of(text);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return right ? blanks + text : text + blanks;
}

// The text broken at blanks, the first line after `first`, the others after `rest`.
std::string wrapped(const std::string& text, std::size_t width, const std::string& first, const std::string& rest) {
  std::string all, line = first;
  std::size_t at = 0;
  bool fresh = true;
  while (at < text.size()) {
    std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!fresh && columns_of(line) + 1 + columns_of(word) > width) {
      all += line + "\n";
      line = rest;
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    fresh = false;
    at = end + 1;
  }
  return all + line + "\n";
}

std::vector<std::size_t> widths_of(const Table& table) {
  std::vector<std::size_t> widths;
  for (const std::string& column : table.columns) widths.push_back(columns_of(column));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i].text));
  }
  return widths;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string table_text(const Table& table, std::size_t width) {
  const std::vector<std::size_t> widths = widths_of(table);
  std::string text = wrapped(table.title, width, "  ", "  ");
  std::string head = "  ", rule = "  ";
  for (std::size_t i = 0; i < widths.size(); ++i) {
    head += "  " + padded(table.columns[i], widths[i], i > 0);
    rule += "  " + std::string(widths[i], '-');
  }
  text += trimmed(head) + "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    std::string line = "  ";
    for (std::size_t i = 0; i < row.size(); ++i) line += "  " + padded(row[i].text, widths[i], i > 0);
    text += trimmed(line) + "\n";
  }
  return text;
}

std::string facts_text(const std::vector<Fact>& facts, std::size_t width) {
  std::size_t name = 0, value = 0;
  for (const Fact& fact : facts) {
    name = std::max(name, columns_of(fact.name));
    value = std::max(value, columns_of(fact.cell.text));
  }
  std::string text;
  for (const Fact& fact : facts) {
    const std::string first =
        "    " + padded(fact.name, name, false) + "  " + padded(fact.cell.text, value, true) + "  ";
    text += trimmed(
        wrapped(fact.source, std::max(width, columns_of(first) + 24), first, std::string(columns_of(first), ' ')));
  }
  return text;
}

std::string section_text(const Section& section, std::size_t width) {
  std::string text = "\n" + section.title + "\n" + std::string(columns_of(section.title), '-') + "\n";
  for (const std::string& advice : section.advice) text += wrapped(advice, width, "* ", "  ");
  for (const Table& table : section.tables) text += "\n" + table_text(table, width);
  if (!section.facts.empty()) text += "\n" + facts_text(section.facts, width);
  if (!section.notes.empty()) text += "\n";
  for (const std::string& note : section.notes) text += wrapped(note, width, "  note: ", "        ");
  return text;
}

}  // namespace

std::string plan_text(const Plan& plan, std::size_t width) {
  std::string text = plan.title + "\n" + std::string(columns_of(plan.title), '=') + "\n";
  if (!plan.about.empty()) text += wrapped(plan.about, width, "", "");
  for (const Section& section : plan.sections) text += section_text(section, width);
  return text;
}

}  // namespace holdfast::plan
