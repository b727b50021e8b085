#include "core/config/settings.h"

namespace holdfast::config {

std::string origin_text(const Origin& origin) {
  return origin.source == Source::row_default ? "default" : origin.place;
}

Status AnySettings::set(std::string_view name, std::string_view text, Origin origin) {
  const std::string doing = "reading " + origin_text(origin);
  const Option* option = table_->find(name);
  if (option == nullptr) {
    return {Code::bad_input, doing, "unknown option '" + std::string(name) + "'", table_->hint(name)};
  }
  const Result<Value> value = read_value(*option, text, doing);
  if (!value) return value.status();
  Origin& current = origins_[static_cast<std::size_t>(option - table_->rows().data())];
  if (origin.source < current.source) return {};
  option->store(storage(), value.value());
  current = std::move(origin);
  return {};
}

std::vector<AnySettings::Shown> AnySettings::show() const {
  std::vector<Shown> shown;
  shown.reserve(origins_.size());
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    const Option& option = table_->rows()[i];
    shown.push_back({&option, write_value(option, option.load(storage())), origins_[i]});
  }
  return shown;
}

std::vector<std::string> AnySettings::left_at_defaults() const {
  std::vector<std::string> left;
  for (const Shown& row : show())
    if (row.origin.source == Source::row_default) left.push_back(std::string(row.option->row.name) + " " + row.value);
  return left;
}

std::vector<std::pair<std::string, std::string>> AnySettings::to_environment() const {
  std::vector<std::pair<std::string, std::string>> variables;
  for (Shown& row : show()) {
    if (row.origin.source == Source::row_default) continue;
    variables.emplace_back(environment_name(row.option->row.name), std::move(row.value));
  }
  return variables;
}

}  // namespace holdfast::config
