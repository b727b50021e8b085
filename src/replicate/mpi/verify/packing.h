#pragma once

#include <mpi.h>

namespace holdfast::replicate {

/// MPI_Pack and MPI_Unpack (MPI 3.1, section 4.2) for whatever buffer a send or a receive may have: MPICH 4.0 refuses
/// MPI_BOTTOM there, which is a null pointer. Returns MPI's error code.
int pack(const void* from, int n, MPI_Datatype type, void* to, int space_bytes, int* position, MPI_Comm comm);
int unpack(const void* from, int bytes, int* position, void* to, int n, MPI_Datatype type, MPI_Comm comm);

}  // namespace holdfast::replicate
