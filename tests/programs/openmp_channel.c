/* OpenMP's threads, of two parallel regions, send and receive on one communicator with one tag. */
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

#include "replica.h"

enum { team = 3, rounds = 20, tag = 7 };

int main(int argc, char** argv) {
  int provided = 0, rank = 0, ranks = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  long sums[team] = {0};
  for (int region = 0; region < 2; ++region) {
#pragma omp parallel num_threads(team)
    for (int round = 0; round < rounds; ++round) {
      const int thread = omp_get_thread_num();
      long in = 0, out = 1000000L * rank + 10000L * thread + 100L * region + round;
      if ((thread + round + native_rank()) % 3 == 0) usleep(300);
      MPI_Sendrecv(&out, 1, MPI_LONG, next, tag, &in, 1, MPI_LONG, round % 2 ? before : MPI_ANY_SOURCE, tag,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sums[thread] += in;
    }
  }
  /* Which thread has received what is not defined, but the same in all replicas; so is the sum. */
  long all[team] = {0}, sum = 0;
  MPI_Reduce(sums, all, team, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int thread = 0; thread < team; ++thread) sum += all[thread];
  if (rank == 0) printf("sum of all messages %ld\n", sum);
  MPI_Finalize();
  return 0;
}
