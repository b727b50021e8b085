#include "cli/job_commands.h"

/// `holdfast`: what a job needs is here, and starts at once; the other commands are another program's, which brings
/// fabrics, simulator and models along.
int main(int argc, char** argv) {
  using namespace holdfast::cli;
  if (argc > 1 && is_job_command(argv[1])) return command_line(argc, argv, add_job_commands);
  return hand_over(argc, argv);
}
