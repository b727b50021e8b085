#pragma once

#include <mpi.h>

#include "replicate/mpi/context/comms.h"
#include "replicate/mpi/context/runtime.h"

namespace holdfast::replicate {

/// Whether MPI will take the arguments of a send, as far as this library must know before it looks at them; where not,
/// MPI is called all the same, and raises the error. MPI_PROC_NULL is the caller's.
inline bool plausible_send(MPI_Count count, MPI_Datatype type, int destination, int tag, MPI_Comm handle) {
  const Comm& comm = runtime().comms.find(handle);
  return count >= 0 && type != MPI_DATATYPE_NULL && destination >= 0 && destination < comm.peer_count && tag >= 0;
}

/// The same of a receive, whose source and tag may be wildcards.
inline bool plausible_receive(MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm handle) {
  return plausible_send(count, type, source == MPI_ANY_SOURCE ? 0 : source, tag == MPI_ANY_TAG ? 0 : tag, handle);
}

}  // namespace holdfast::replicate
