#pragma once

#include <optional>

namespace holdfast::replicate {

/// The standard error of the job: this process's own before it was redirected to a file.
int job_stderr();

/// Own rank in the real world as the launcher's environment tells it before MPI_Init; -1 when it does not.
int launched_rank();

/// Which rank this process plays, in which replica, as far as the environment tells before MPI_Init, which checks it.
struct Place {
  int rank = 0;
  int replica = 0;
};
std::optional<Place> launched_place();

}  // namespace holdfast::replicate
