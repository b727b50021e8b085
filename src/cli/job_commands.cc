#include "cli/job_commands.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "cli/subcommands.h"
#include "replicate/launch/detect/library.h"

namespace holdfast::cli {
namespace {

struct JobCommand {
  std::string_view name;
  AddCommands add;
};
constexpr std::array<JobCommand, 3> job_commands{{
    {"run", add_run},
    {"doctor", [](CLI::App& app, Action& action, const std::vector<std::string>&) { add_doctor(app, action); }},
    {"fault", [](CLI::App& app, Action& action, const std::vector<std::string>&) { add_fault(app, action); }},
}};

}  // namespace

void add_job_commands(CLI::App& app, Action& action, const std::vector<std::string>& application) {
  for (const JobCommand& command : job_commands) command.add(app, action, application);
}

bool is_job_command(std::string_view word) {
  return std::any_of(job_commands.begin(), job_commands.end(),
                     [word](const JobCommand& command) { return command.name == word; });
}

int hand_over(int argc, char** argv) {
  const auto program = launch::find_commands();
  const bool asks_for_a_command = argc > 1 && argv[1][0] != '-';
  if (!program.ok())
    return asks_for_a_command ? complain(program.status()) : command_line(argc, argv, add_job_commands);
  execv(program.value().c_str(), argv);
  return complain({Code::unavailable, "starting " + program.value(), std::strerror(errno), "install Holdfast again"});
}

}  // namespace holdfast::cli
