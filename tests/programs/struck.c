/* What may follow from a flipped bit: rank 0 sends a number that is flipped in the buffer that it sends from, and goes
   on with that number in one of the ways in which programs fail. Arguments: crash (an index far outside), crash-in-mpi
   (a count beyond the buffer), exit (a status of its own, without MPI_Finalize), abort (MPI_Abort), or anything else:
   it goes on with the number that it knows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const long right = 4;
static int small[4];

static void go_on_with(long number, const char* manner) {
  if (number == right) return;
  if (strcmp(manner, "crash") == 0) ((volatile int*)small)[number] = 1;
  if (strcmp(manner, "crash-in-mpi") == 0) MPI_Send(small, (int)number, MPI_INT, 1, 8, MPI_COMM_WORLD);
  if (strcmp(manner, "exit") == 0) _exit(5);
  if (strcmp(manner, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 6);
}

int main(int count, char** arguments) {
  const char* manner = count > 1 ? arguments[1] : "";
  MPI_Init(&count, &arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  long number = rank == 0 ? right : 0;
  if (rank == 0) {
    MPI_Send(&number, 1, MPI_LONG, 1, 7, MPI_COMM_WORLD);
    go_on_with(number, manner);
  } else if (rank == 1) {
    MPI_Recv(&number, 1, MPI_LONG, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) printf("the number is %ld\n", number);
  MPI_Finalize();
  return 0;
}
