/* "endings WAY": the last rank ends without MPI_Finalize, with status 5, by exit, _exit, quick_exit or abort
 * (MPI_Abort); with "late" all ranks end by _exit(5) after it. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == ranks - 1) {
    if (strcmp(argv[1], "exit") == 0) exit(5);
    if (strcmp(argv[1], "_exit") == 0) _exit(5);
    if (strcmp(argv[1], "quick_exit") == 0) quick_exit(5);
    if (strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  _exit(5);
}
