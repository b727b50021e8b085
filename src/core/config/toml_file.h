#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/config/settings.h"
#include "core/status/status.h"

namespace holdfast::config {

/// Reads a TOML 1.0 text into the settings of all components: [transport] ack_delay = "10ms". Booleans and numbers may
/// be written as such or quoted; durations and names are quoted. `name` is the file's name in messages and origins
/// ("x.toml line 3"). Errors (bad_input): bad syntax, a table that is no component, an unknown option (both with a
/// hint), a bad value. Stops at the first.
Status read_toml(std::string_view text, std::string_view name, std::span<AnySettings* const> settings);

/// The same for a file. Errors besides: not_found when it does not exist, io when it cannot be read.
Status read_toml_file(const std::string& path, std::span<AnySettings* const> settings);

}  // namespace holdfast::config
