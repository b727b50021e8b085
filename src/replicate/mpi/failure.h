#pragma once

#include <string>
#include <string_view>

namespace holdfast::replicate {

/// Why a job ends early; the words go into the incident files that `holdfast run` reads.
enum class Incident {
  uncorrected,  ///< corruption that could not be corrected
  diverged,     ///< replicas do different things
  silent,       ///< a replica stopped answering
  refused,      ///< a function that is not supported was called
  bad_input,    ///< the options given to the library are wrong
  abort,        ///< the application called MPI_Abort
  outvoted,     ///< its exit status was not that of most replicas: the job goes on with theirs
};

/// Writes the incident file, prints one line to the job's standard error, and ends the whole job. Never returns.
[[noreturn]] void fail(Incident incident, std::string_view message);
[[noreturn]] void fail_unsupported(std::string_view what, std::string_view remedy);

/// The program called MPI, and this library cannot: the program opened its MPI library for itself alone. Calls nothing of
/// MPI.
[[noreturn]] void fail_unseen();

/// One line to the standard error of the job, also from replicas whose own standard error goes to a file.
void say(std::string_view message);

/// Writes the incident file only.
bool report_incident(Incident incident, std::string_view message);

}  // namespace holdfast::replicate
