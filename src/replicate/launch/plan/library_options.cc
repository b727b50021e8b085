#include "replicate/launch/plan/library_options.h"

#include "replicate/engine/options.h"

namespace holdfast::launch {
namespace {

config::AnySettings::Shown shown(const config::AnySettings& settings, std::string_view name) {
  for (config::AnySettings::Shown& row : settings.show())
    if (row.option->row.name == name) return row;
  return {};
}

}  // namespace

const config::AnyTable& library_table() {
  return replicate::options_table();
}

std::unique_ptr<config::AnySettings> library_settings() {
  auto settings = std::make_unique<config::Settings<replicate::Options>>(replicate::options_table());
  (void)settings->set("replicate.degree", "3", {config::Source::row_default, ""});
  return settings;
}

std::string value_of(const config::AnySettings& settings, std::string_view name) {
  return shown(settings, name).value;
}

bool is_default(const config::AnySettings& settings, std::string_view name) {
  return shown(settings, name).origin.source == config::Source::row_default;
}

}  // namespace holdfast::launch
