#pragma once

namespace holdfast::replicate {

/// An interpreter (Python, R, Julia ...) that a script starts may load MPI while it runs, for itself alone, where its
/// functions and predefined handles are out of this library's sight. So it is started again with MPI's library
/// preloaded behind this one, as `holdfast run` does where it is given the interpreter itself: HOLDFAST_RUN_MPI_LIBRARY
/// names it. Shells do not load MPI, and what else they start may be linked with another build of it, or be no MPI
/// program at all.
///
/// Called by the first thread before the program's constructors; does not return where it starts the program again.
/// `arguments`: as main() has them.
void begin_with_mpi(char** arguments);

/// Whether a program of that path may load MPI while it runs.
bool may_load_mpi(const char* path);

}  // namespace holdfast::replicate
