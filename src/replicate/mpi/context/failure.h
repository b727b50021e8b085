#pragma once

#include <string>
#include <string_view>

#include "replicate/engine/incident.h"

namespace holdfast::replicate {

/// Writes the incident file, prints one line to the job's standard error, and ends the whole job. Never returns.
[[noreturn]] void fail(Incident incident, std::string_view message);
[[noreturn]] void fail_unsupported(std::string_view what, std::string_view remedy);

/// The program called MPI, and this library cannot: the program opened its MPI library for itself alone. Calls nothing
/// of MPI.
[[noreturn]] void fail_unseen();

/// One line to the standard error of the job, also from replicas whose own standard error goes to a file.
void say(std::string_view message);

/// Writes the incident file only.
bool report_incident(Incident incident, std::string_view message);

}  // namespace holdfast::replicate
