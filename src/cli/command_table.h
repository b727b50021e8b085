#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace holdfast::cli {

/// Every command with its options as JSON, from the commands themselves: what the manual pages and the completions of
/// shells are made from (tools/manual_pages.py, tools/shell_completions.py). A command is an object with `name`, `doc`,
/// `options`, `commands` and, unless inherited, `footer`; an option has `names` or `positional`, `doc` and, where they
/// apply, `value` (a placeholder), `bounds`, `choices`, `required`, `repeats` and `group`.
std::string command_table(const CLI::App& app);

}  // namespace holdfast::cli
