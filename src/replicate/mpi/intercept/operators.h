#pragma once

#include <mpi.h>

namespace holdfast::replicate {

/// The application may free an operation of its own while reductions that outlive their call still apply it (MPI 3.1,
/// sections 2.4.1 and 5.9.5). In messages it is this library that applies it, and MPI knows of no use of it: so it is
/// freed when the last such reduction is over. One thread at a time.

/// Whether MPI brings it, so that nobody frees it.
bool predefined_operator(MPI_Op op);

/// A reduction will apply it, until leave_operator().
void use_operator(MPI_Op op);
void leave_operator(MPI_Op op);

}  // namespace holdfast::replicate
