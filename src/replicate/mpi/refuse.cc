#include <cstdio>

#include "real_functions.h"
#include "replicate/mpi/guard.h"

namespace holdfast::replicate {

int refuse(Function function, MPI_Comm) {
  std::fprintf(stderr,
               "holdfast: running with replicas: %s is not protected yet: run this program without replication\n",
               function_name(function));
  return real().Abort(MPI_COMM_WORLD, 1);
}

}  // namespace holdfast::replicate
