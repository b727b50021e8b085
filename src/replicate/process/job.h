#pragma once

#include <string>

namespace holdfast::replicate {

/// Which job this process belongs to, as `holdfast run` named it: stands in every file that it leaves for the launcher,
/// which believes no other job's. Letters and digits; empty without `holdfast run`.
const std::string& job_identity();

/// The folder that `holdfast run` gave the job for its records, as it was when first asked for; null without
/// `holdfast run`. Lives as long as the process.
const char* run_directory();

/// Leaves a status in a file of the run directory, with the job's name: whole or not at all.
bool leave_status(const std::string& path, int status);

/// Sets a variable of the environment, by the C library's own function: bash brings one that knows its variables alone.
void set_variable(const char* name, const std::string& value);

}  // namespace holdfast::replicate
