#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "core/status/status.h"

/// The subcommands of `holdfast`, one file each. They read flags, call the capability, and print; nothing is decided
/// here.
namespace holdfast::cli {

/// Each adds its subcommand and sets `action` when that subcommand was chosen.
/// `application` is what stood after the first "--": the program and its arguments, which CLI11 must not read; `words`,
/// of calibrate, are the launcher's options there.
void add_run(CLI::App& app, Action& action, const std::vector<std::string>& application);
void add_doctor(CLI::App& app, Action& action);
void add_config(CLI::App& app, Action& action);
void add_fault(CLI::App& app, Action& action);
void add_fabric(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_trace(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_calibrate(CLI::App& app, Action& action, const std::vector<std::string>& words);
void add_plan(CLI::App& app, Action& action);
void add_collective(CLI::App& app, Action& action);
void add_study(CLI::App& app, Action& action);
void add_reference(CLI::App& app, Action& action);

/// Prints "holdfast: what was being done: what went wrong: what to do" and returns the status's exit code.
int complain(const Status& status);

}  // namespace holdfast::cli
