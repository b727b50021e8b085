#pragma once

namespace holdfast::replicate {

/// The standard error of the job: this process's own before it was redirected to a file.
int job_stderr();

/// Own rank in the real world as the launcher's environment tells it before MPI_Init; -1 when it does not.
int launched_rank();

}  // namespace holdfast::replicate
