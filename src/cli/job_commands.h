#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"

namespace holdfast::cli {

/// The commands that a job needs (run, doctor, fault), which the program `holdfast` has itself.
void add_job_commands(CLI::App& app, Action& action, const std::vector<std::string>& application);
bool is_job_command(std::string_view word);

/// Becomes the program holdfast-commands, which has all commands, with the same arguments; returns only when that
/// cannot be: the exit code, and what is wrong has been said. Where that program is not there, and the arguments ask
/// for no command (help, the version), add_job_commands() answers.
int hand_over(int argc, char** argv);

}  // namespace holdfast::cli
