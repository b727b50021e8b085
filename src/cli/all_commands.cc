#include "cli/subcommands.h"

namespace holdfast::cli {
namespace {

/// In the order of `holdfast --help`.
void add_all_commands(CLI::App& app, Action& action, const std::vector<std::string>& application) {
  add_run(app, action, application);
  add_doctor(app, action);
  add_config(app, action);
  add_fault(app, action);
  add_fabric(app, action);
  add_simulate(app, action);
  add_trace(app, action);
  add_predict(app, action);
  add_calibrate(app, action, application);
  add_plan(app, action);
  add_collective(app, action);
  add_study(app, action);
  add_reference(app, action);
}

}  // namespace
}  // namespace holdfast::cli

/// holdfast-commands: every command of `holdfast`, which starts it for those that it has not itself.
int main(int argc, char** argv) {
  return holdfast::cli::command_line(argc, argv, holdfast::cli::add_all_commands);
}
