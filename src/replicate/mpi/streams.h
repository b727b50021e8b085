#pragma once

#include <optional>

#include "replicate/engine/replica_map.h"

namespace holdfast::replicate {

/// The standard error of the job: this process's own before it was redirected to a file.
int job_stderr();

/// Own rank in the real world as the launcher's environment tells it before MPI_Init; -1 when it does not.
int launched_rank();

/// Who plays which rank, as far as the environment tells before MPI_Init; MPI_Init says what is wrong with it.
std::optional<ReplicaMap> announced_map();

}  // namespace holdfast::replicate
