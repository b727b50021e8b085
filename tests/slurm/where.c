/* Says on which node of Slurm each process is, on standard error. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* node = getenv("SLURMD_NODENAME");
  fprintf(stderr, "rank %d on node %s\n", rank, node ? node : "?");
  MPI_Finalize();
  return 0;
}
