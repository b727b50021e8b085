#pragma once

#include <string>

namespace holdfast::replicate {

/// What to say where copies or calls differ between replicas and threads may be why; empty where they may not.
std::string threads_advice();
/// The same of threads that compute and call no MPI: several of OpenMP's.
std::string openmp_advice();

}  // namespace holdfast::replicate
