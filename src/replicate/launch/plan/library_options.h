#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/config/settings.h"

namespace holdfast::launch {

/// The option rows of the preloaded libraries, which `holdfast run` offers as flags and hands over as
/// HOLDFAST_REPLICATE_*.
const config::AnyTable& library_table();

/// Fresh settings of those rows, with the degree that `holdfast run` starts from: three replicas, which correct.
std::unique_ptr<config::AnySettings> library_settings();

/// The effective value of an option as text. Requires a row of that name.
std::string value_of(const config::AnySettings& settings, std::string_view name);
/// True when neither a flag, the environment nor a file set it.
bool is_default(const config::AnySettings& settings, std::string_view name);

}  // namespace holdfast::launch
