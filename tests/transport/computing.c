/* Receivers that compute: pairs of ranks, of which one sends messages of 1 MiB, each complete when it is acknowledged,
 * and the other has posted its receive and computes without calling MPI. Every byte is checked. Prints how long the
 * sends took, one line a pair, and "verified" when all was right.
 *
 *   computing [SENDS [COMPUTE_MS [BYTES]]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static void compute(double seconds) {
  const double until = MPI_Wtime() + seconds; /* a clock, and no progress */
  volatile double work = 1;
  while (MPI_Wtime() < until) {
    for (int i = 0; i < 10000; ++i) work = work * 1.0000001 + 1e-9;
  }
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  const int sends = count > 1 ? atoi(words[1]) : 20;
  const double seconds = (count > 2 ? atof(words[2]) : 100) / 1000;
  const int bytes = count > 3 ? atoi(words[3]) : 1048576;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = rank ^ 1;
  unsigned char* memory = malloc((size_t)bytes);
  double* times = calloc((size_t)sends, sizeof *times);
  long bad = 0;
  if (memory == NULL || times == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int n = 0; n < sends; ++n) {
    if (rank % 2 == 0) {
      for (int i = 0; i < bytes; ++i) memory[i] = (unsigned char)(i * 7 + n * 13 + rank);
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      MPI_Send(memory, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
      times[n] = MPI_Wtime() - start;
    } else {
      MPI_Request request;
      MPI_Irecv(memory, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, &request);
      MPI_Barrier(MPI_COMM_WORLD);
      compute(seconds);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int i = 0; i < bytes; ++i) bad += memory[i] != (unsigned char)(i * 7 + n * 13 + other);
    }
  }
  if (rank % 2 == 0) {
    qsort(times, (size_t)sends, sizeof *times, ascending);
    printf("{\"rank\": %d, \"median_ms\": %.3f, \"ninetieth_ms\": %.3f, \"longest_ms\": %.3f}\n", rank,
           1e3 * times[sends / 2], 1e3 * times[sends * 9 / 10], 1e3 * times[sends - 1]);
  }
  long all = 0;
  MPI_Reduce(&bad, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf(all == 0 ? "verified\n" : "WRONG: %ld bytes\n", all);
  MPI_Finalize();
  free(times);
  free(memory);
  return 0;
}
