#include "core/config/reference.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace holdfast::config {
namespace {

std::string default_text(const Option& option) {
  if (option.row.initial.empty()) return "empty";
  std::string text(option.row.initial);
  const bool number = option.type == Type::integer || option.type == Type::natural || option.type == Type::real;
  if (number && !option.row.unit.empty()) text += " " + std::string(option.row.unit);
  return text;
}

std::string toml_line(const Option& option, std::string_view component) {
  const bool quoted = option.type == Type::text || option.type == Type::choice || option.type == Type::duration;
  const std::string quote = quoted ? "\"" : "";
  const std::string_view key = option.row.name.substr(component.size() + 1);
  return std::string(key) + " = " + quote + std::string(option.row.initial) + quote;
}

constexpr std::size_t most_columns = 120;

/// Prose with its lines broken between words where they are longer than documents allow.
std::string within_columns(std::string_view prose) {
  std::string text;
  std::size_t column = 0;
  while (!prose.empty()) {
    const std::size_t end = std::min(prose.find_first_of(" \n"), prose.size());
    if (column > 0 && column + end > most_columns) {
      text.back() = '\n';
      column = 0;
    }
    text += prose.substr(0, end);
    column += end;
    if (end == prose.size()) break;
    text += prose[end];
    column = prose[end] == '\n' ? 0 : column + 1;
    prose.remove_prefix(end + 1);
  }
  return text;
}

std::string markdown_entry(const AnyTable& table, const Option& option) {
  std::string text = "### `" + std::string(option.row.name) + "`\n\n" + within_columns(option.row.doc) + "\n\n";
  text += "- flag: `" + flag_name(option.row.name) + " " + placeholder(option) + "`\n";
  text += "- environment: `" + environment_name(option.row.name) + "`\n";
  text += "- file: `[" + std::string(table.component()) + "]` `" + toml_line(option, table.component()) + "`\n";
  text += "- default: " + (option.row.initial.empty() ? "empty" : "`" + default_text(option) + "`") + "\n";
  if (const std::string bounds = bounds_text(option); !bounds.empty()) text += "- allowed: " + bounds + "\n";
  return text;
}

constexpr std::string_view precedence =
    "A flag wins over the environment, the environment over the configuration file, and the file over the default.";

std::size_t first_different_line(std::string_view a, std::string_view b) {
  std::size_t line = 1;
  for (std::size_t i = 0; i < a.size() && i < b.size() && a[i] == b[i]; ++i) {
    if (a[i] == '\n') ++line;
  }
  return line;
}

}  // namespace

std::string help_text(const Option& option) {
  std::string text = flag_name(option.row.name) + " " + placeholder(option) + "\n";
  text += "    " + std::string(option.row.doc) + "\n    [default: " + default_text(option);
  if (const std::string bounds = bounds_text(option); !bounds.empty()) text += "; allowed: " + bounds;
  return text + "; environment: " + environment_name(option.row.name) + "]\n";
}

std::string doc_line(const Row& row) {
  std::string line(row.doc);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

std::string reference_markdown(std::span<const AnyTable* const> tables) {
  std::string text = "# Options\n\nGenerated from the option rows; do not edit.\n\n" +
                     within_columns(std::string(precedence) +
                                    " `holdfast config explain` shows the effective values and where each came from.") +
                     "\n";
  for (const AnyTable* table : tables) {
    text += "\n## " + std::string(table->component()) + "\n";
    for (const Option& option : table->rows()) text += "\n" + markdown_entry(*table, option);
  }
  return text;
}

Status check_generated_file(const std::string& path, std::string_view generated, std::string_view regenerate) {
  std::ifstream file(path, std::ios::binary);
  const std::string remedy = "run '" + std::string(regenerate) + "'";
  if (!file.is_open()) return {Code::io, "checking the generated file " + path, "it cannot be read", remedy};
  std::ostringstream text;
  text << file.rdbuf();
  const std::string committed = text.str();
  if (committed == generated) return {};
  return {Code::internal, "checking the generated file " + path,
          "line " + std::to_string(first_different_line(committed, generated)) + " differs from the option rows",
          remedy};
}

}  // namespace holdfast::config
