#pragma once

#include <sys/types.h>

namespace holdfast::replicate {

/// The number that the program is told for its process, and for its first thread; 0 where the answer is the kernel's:
/// off the program's first thread, inside MPI and Holdfast, without replicas.
pid_t agreed_process_id();

}  // namespace holdfast::replicate
