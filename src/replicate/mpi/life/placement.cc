#include "replicate/mpi/life/placement.h"

#include "real_functions.h"

namespace holdfast::replicate {

bool placed_differently(MPI_Comm world, MPI_Comm team) {
  MPI_Comm host = MPI_COMM_NULL;
  real().Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  int first = 0;  // the lowest rank on this one's host names the host
  real().Comm_rank(world, &first);
  real().Bcast(&first, 1, MPI_INT, 0, host);
  real().Comm_free(&host);
  int range[2] = {first, -first};
  real().Allreduce(MPI_IN_PLACE, range, 2, MPI_INT, MPI_MAX, team);
  int differs = range[0] != -range[1] ? 1 : 0;
  int anywhere = 0;
  real().Allreduce(&differs, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return anywhere != 0;
}

}  // namespace holdfast::replicate
