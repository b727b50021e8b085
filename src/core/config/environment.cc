#include "core/config/environment.h"

#include <string>
#include <string_view>
#include <vector>

#include "core/status/hint.h"

namespace holdfast::config {
namespace {

const Option* find_variable(const AnyTable& table, std::string_view variable) {
  for (const Option& option : table.rows()) {
    if (environment_name(option.row.name) == variable) return &option;
  }
  return nullptr;
}

Status unknown_variable(const AnyTable& table, std::string_view variable) {
  std::vector<std::string> names;
  for (const Option& option : table.rows()) names.push_back(environment_name(option.row.name));
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return {Code::bad_input, "reading the environment", "unknown option '" + std::string(variable) + "'",
          did_you_mean(variable, candidates, "'holdfast config list' shows all options")};
}

}  // namespace

Status read_environment(AnySettings& settings, const char* const* environment) {
  const std::string prefix = environment_name(settings.table().component()) + "_";
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || !entry.starts_with(prefix)) continue;
    const std::string_view variable = entry.substr(0, equals);
    const Option* option = find_variable(settings.table(), variable);
    if (option == nullptr) return unknown_variable(settings.table(), variable);
    Origin origin{Source::environment, std::string(variable)};
    if (Status status = settings.set(option->row.name, entry.substr(equals + 1), std::move(origin)); !status) {
      return status;
    }
  }
  return {};
}

}  // namespace holdfast::config
