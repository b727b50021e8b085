#pragma once

namespace holdfast::replicate {

/// Whether an attribute is one that MPI itself attaches to the real MPI_COMM_WORLD (MPI 4.0, section 9.1.2).
bool attached_by_mpi(int keyval);

}  // namespace holdfast::replicate
