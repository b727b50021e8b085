#pragma once

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

}  // namespace holdfast::replicate
