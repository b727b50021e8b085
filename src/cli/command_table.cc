#include "cli/command_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace holdfast::cli {
namespace {

using Json = nlohmann::ordered_json;

/// What follows the name of an option: CLI11 joins the placeholder and the values that are allowed, as "N:1 to 9",
/// "KIND:{links,switches}" or "{a,b}".
struct Value {
  std::string placeholder;
  std::string bounds;
  std::vector<std::string> choices;
};

std::vector<std::string> split_choices(std::string_view list) {
  std::vector<std::string> choices;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    choices.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return choices;
}

bool is_upper(char letter) {
  return letter >= 'A' && letter <= 'Z';
}

Value value_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  std::size_t colon = type.front() == '{' ? 0 : type.find(':');
  if (colon < type.size() && is_upper(type[colon + 1])) colon = std::string::npos;  // a placeholder such as A:B
  Value value{type.substr(0, colon), colon < type.size() ? type.substr(colon == 0 ? 0 : colon + 1) : "", {}};
  if (!value.bounds.starts_with('{') || !value.bounds.ends_with('}')) return value;
  value.choices = split_choices(std::string_view(value.bounds).substr(1, value.bounds.size() - 2));
  value.bounds.clear();
  return value;
}

Json names_with_dashes(const CLI::Option& option) {
  Json names = Json::array();
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

Json option_row(const CLI::Option& option) {
  Json row;
  if (option.get_positional())
    row["positional"] = option.get_name(true);
  else
    row["names"] = names_with_dashes(option);
  if (!option.get_type_name().empty()) {
    const Value value = value_of(option);
    row["value"] = value.placeholder;
    if (!value.bounds.empty()) row["bounds"] = value.bounds;
    if (!value.choices.empty()) row["choices"] = value.choices;
  }
  if (option.get_required()) row["required"] = true;
  if (option.get_expected_max() > 1) row["repeats"] = true;
  if (option.get_group() != "Options") row["group"] = option.get_group();
  row["doc"] = option.get_description();
  return row;
}

Json command_row(const CLI::App& app, const std::string& inherited_footer) {
  Json row;
  row["name"] = app.get_name();
  row["doc"] = app.get_description();
  if (app.get_footer() != inherited_footer) row["footer"] = app.get_footer();
  row["options"] = Json::array();
  for (const CLI::Option* option : app.get_options()) row["options"].push_back(option_row(*option));
  row["commands"] = Json::array();
  for (const CLI::App* below : app.get_subcommands({}))
    row["commands"].push_back(command_row(*below, app.get_footer()));
  return row;
}

}  // namespace

std::string command_table(const CLI::App& app) {
  return command_row(app, "").dump(1) + "\n";
}

}  // namespace holdfast::cli
