#include "core/config/table.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/status/hint.h"

namespace holdfast::config {
namespace {

bool name_is_well_formed(std::string_view component, std::string_view name) {
  if (name.size() <= component.size() + 1 || !name.starts_with(component) || name[component.size()] != '.')
    return false;
  for (const char letter : name) {
    const bool allowed =
        (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_' || letter == '.';
    if (!allowed) return false;
  }
  return true;
}

bool appears_twice(std::span<const Option> rows, const Option& option) {
  int count = 0;
  // '.' and '_' both become '_' in the environment, so names are compared as they stand there.
  for (const Option& other : rows) {
    if (environment_name(other.row.name) == environment_name(option.row.name)) ++count;
  }
  return count > 1;
}

std::string defect_of(std::string_view component, std::span<const Option> rows, const Option& option) {
  const Row& row = option.row;
  if (!name_is_well_formed(component, row.name)) return "the name is not component.lower_case_words";
  if (appears_twice(rows, option)) return "another row has the same environment name";
  if (row.doc.empty()) return "it has no doc";
  if ((option.type == Type::choice) == row.choices.empty()) return "names belong to an enumeration, and only to one";
  const bool ordered = option.type == Type::integer || option.type == Type::natural || option.type == Type::real ||
                       option.type == Type::duration;
  for (const std::string_view bound : {row.least, row.most}) {
    if (bound.empty()) continue;
    if (!ordered) return "only numbers and durations have bounds";
    if (!read_value(option, bound, "").ok()) return "bound '" + std::string(bound) + "' is no value between the bounds";
  }
  const Result<Value> initial = read_value(option, row.initial, "reading the default");
  return initial ? "" : initial.status().message();
}

}  // namespace

Status check_rows(std::string_view component, std::span<const Option> rows) {
  for (const Option& option : rows) {
    std::string defect = defect_of(component, rows, option);
    if (!defect.empty()) {
      return {Code::internal, "checking option row " + std::string(option.row.name), std::move(defect)};
    }
  }
  return {};
}

AnyTable::AnyTable(std::string_view component, std::vector<Option> rows)
    : component_(component), rows_(std::move(rows)) {
  if (const Status status = check_rows(component_, rows_); !status) {
    std::fprintf(stderr, "holdfast: %s\n", status.message().c_str());
    std::abort();
  }
}

const Option* AnyTable::find(std::string_view name) const {
  for (const Option& option : rows_) {
    if (same_name(option.row.name, name)) return &option;
  }
  return nullptr;
}

std::string AnyTable::hint(std::string_view name) const {
  std::vector<std::string_view> names;
  names.reserve(rows_.size());
  for (const Option& option : rows_) names.push_back(option.row.name);
  return did_you_mean(name, names, "'holdfast config list' shows all options");
}

}  // namespace holdfast::config
