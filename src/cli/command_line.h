#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace holdfast::cli {

/// What a subcommand does once the command line has been read; returns the exit code.
using Action = std::function<int()>;

/// Adds a program's subcommands; see subcommands.h for the arguments.
using AddCommands = void (*)(CLI::App& app, Action& action, const std::vector<std::string>& application);

/// Reads a command line of `holdfast` and does what it says; what a program's main() returns. Standard output is the
/// process's, so that it is called once.
int command_line(int argc, char** argv, AddCommands add_commands);

}  // namespace holdfast::cli
