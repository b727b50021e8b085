// Setting the world's error handler. Errors of calls that have no communicator are raised on the real MPI_COMM_WORLD,
// so that the handler goes there as well as to the replica's own world.
#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/guard.h"

namespace holdfast::replicate {

int hook::Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  const int error = real().Comm_set_errhandler(comm, errhandler);
  if (error != MPI_SUCCESS || comm != protection.world) return error;
  return real().Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
}

int hook::Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  const int error = real().Errhandler_set(comm, errhandler);
  if (error != MPI_SUCCESS || comm != protection.world) return error;
  return real().Errhandler_set(MPI_COMM_WORLD, errhandler);
}

}  // namespace holdfast::replicate
