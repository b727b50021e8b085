#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "core/config/settings.h"
#include "core/status/status.h"

namespace holdfast::cli {

/// Adds a flag for every option of a component, --mpi.eager-limit for mpi.eager_limit. `settings` and `status`, which
/// gets the first error, live as long as the command.
void add_settings_flags(CLI::App& command, config::AnySettings& settings, Status& status, const std::string& group);

}  // namespace holdfast::cli
