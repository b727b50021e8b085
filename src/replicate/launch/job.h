#pragma once

#include <iosfwd>

#include "replicate/launch/plan/job_plan.h"

namespace holdfast::launch {

/// `holdfast run`: plans the job, starts it, waits, judges and reports. What the application prints goes to this
/// process's own standard output and error; `out` takes the command of a dry run, `err` the lines of Holdfast. Call in
/// the main thread of a process that has no other children. Returns the exit code (exit_codes()).
int run_job(const JobRequest& request, std::ostream& out, std::ostream& err);

}  // namespace holdfast::launch
