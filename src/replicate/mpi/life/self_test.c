// What `holdfast doctor --test` runs with each MPI: point-to-point messages round a ring and a reduction, whose answers
// it knows. Prints one line by rank 0. Exit status: 0; 1 for a wrong answer.
#include <mpi.h>
#include <stdio.h>

enum { words = 1000, rounds = 20 };

static int sum_of_ring(int rank, int size) {
  static long data[words];
  long wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < words; ++i) data[i] = (long)rank * words + i + round;
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;
    MPI_Sendrecv_replace(data, words, MPI_LONG, next, 0, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < words; ++i) wrong += data[i] != (long)previous * words + i + round;
  }
  long all = -1;
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all == 0;
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int right = sum_of_ring(rank, size);
  if (rank == 0) puts(right ? "self-test: verified" : "self-test: a wrong answer");
  MPI_Finalize();
  return !right;
}
