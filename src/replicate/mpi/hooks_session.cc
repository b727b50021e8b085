#include <cstdlib>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/engine/degrees.h"
#include "replicate/mpi/failure.h"

#ifdef MPICH
namespace holdfast::replicate {

// A program that uses sessions alone never calls MPI_Init, so replication would never begin.
int hook::Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  const char* degree = std::getenv("HOLDFAST_REPLICATE_DEGREE");
  if (degree && asks_for_replicas(degree)) {
    fail_unsupported("MPI_Session_init", "sessions are not protected yet: run this program without replication");
  }
  return real().Session_init(info, errhandler, session);
}

}  // namespace holdfast::replicate
#endif
