/* What may follow from a flipped bit: rank 0 sends a number that is flipped in the buffer that it sends from, and goes
   on with that number in one of the ways in which programs fail. Arguments: crash (an index far outside), crash-in-mpi
   (a count beyond the buffer), exit (a status of its own, without MPI_Finalize), abort (MPI_Abort), or anything else:
   it goes on with the number that it knows.

   twice, twice-gone: rank 0 sends one large buffer twice at once. MPI has not taken the first message yet when the flip
   strikes the buffer for the second one. In the replica that is struck, rank 1 comes to it when the others have their
   messages since long; with twice-gone they have used the memory for something else. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replica.h"

static const long right = 4;
static int small[4];

static void go_on_with(long number, const char* manner) {
  if (number == right) return;
  if (strcmp(manner, "crash") == 0) ((volatile int*)small)[number] = 1;
  if (strcmp(manner, "crash-in-mpi") == 0) MPI_Send(small, (int)number, MPI_INT, 1, 8, MPI_COMM_WORLD);
  if (strcmp(manner, "exit") == 0) _exit(5);
  if (strcmp(manner, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 6);
}

enum { words = 1 << 16 };
static long sent[words];
static long got[2][words];

static void send_twice(int rank, int gone) {
  MPI_Request both[2];
  if (rank == 0) {
    for (int i = 0; i < words; ++i) sent[i] = i;
    for (int tag = 0; tag < 2; ++tag) MPI_Isend(sent, words, MPI_LONG, 1, tag, MPI_COMM_WORLD, &both[tag]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  } else {
    usleep(own_replica() == 1 ? 1200000 : 200000);
    long sum = 0;
    for (int tag = 0; tag < 2; ++tag) {
      MPI_Recv(got[tag], words, MPI_LONG, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < words; ++i) sum += got[tag][i];
      if (gone) memset(got[tag], 0, sizeof got[tag]);
    }
    printf("the sum is %ld\n", sum);
  }
}

int main(int count, char** arguments) {
  const char* manner = count > 1 ? arguments[1] : "";
  if (omp_get_max_threads() < 1) return 1; /* OpenMP is there, and has as many threads as it is told */
  MPI_Init(&count, &arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strncmp(manner, "twice", 5) == 0) {
    send_twice(rank, strcmp(manner, "twice-gone") == 0);
    MPI_Finalize();
    return 0;
  }
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
