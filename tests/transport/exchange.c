/* A ping-pong of lengths from 0 bytes to 4 MiB and an all-to-all between all processes, every byte checked at every
 * turn. Prints the times of the ping-pong as JSON, one line a length, and "verified" when all was right.
 *
 *   exchange [ROUNDS [ALL_TO_ALL_ROUNDS [LONGEST_BYTES [FILE]]]]
 *
 * With FILE the all-to-all goes on until process 0 sees a file of this name.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned char byte_of(int from, int round, size_t at) {
  return (unsigned char)(at * 131 + (at >> 8) * 7 + (size_t)from * 31 + (size_t)round * 17);
}

static void fill(unsigned char* buffer, size_t bytes, int from, int round) {
  for (size_t i = 0; i < bytes; ++i) buffer[i] = byte_of(from, round, i);
}

static long wrong(const unsigned char* buffer, size_t bytes, int from, int round) {
  long count = 0;
  for (size_t i = 0; i < bytes; ++i) count += buffer[i] != byte_of(from, round, i);
  return count;
}

static long ping_pong(int rank, unsigned char* out, unsigned char* in, size_t bytes, int rounds) {
  const int other = 1 - rank;
  long bad = 0;
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    fill(out, bytes, rank, round);
    MPI_Sendrecv(NULL, 0, MPI_BYTE, other, 2, NULL, 0, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double start = MPI_Wtime();
    if (rank == 0) {
      MPI_Send(out, (int)bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
      MPI_Recv(in, (int)bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, (int)bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, (int)bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
    }
    const double time = MPI_Wtime() - start;
    if (time < best) best = time;
    bad += wrong(in, bytes, other, round);
  }
  if (rank == 0) {
    printf("{\"bytes\": %zu, \"us\": %.2f, \"mb_per_s\": %.1f}\n", bytes, best / 2 * 1e6,
           (double)bytes / (best / 2) / 1e6);
    fflush(stdout);
  }
  return bad;
}

static long all_to_all(int rank, int size, unsigned char* out, unsigned char* in, size_t each, int round) {
  long bad = 0;
  for (int to = 0; to < size; ++to) fill(out + each * (size_t)to, each, rank * 7 + to, round);
  MPI_Alltoall(out, (int)each, MPI_BYTE, in, (int)each, MPI_BYTE, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from) bad += wrong(in + each * (size_t)from, each, from * 7 + rank, round);
  return bad;
}

static int goes_on(int rank, const char* file) {
  int more = rank == 0 && access(file, F_OK) != 0;
  MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return more;
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rounds = count > 1 ? atoi(words[1]) : 10;
  const int all_rounds = count > 2 ? atoi(words[2]) : 10;
  const size_t longest = count > 3 ? (size_t)atol(words[3]) : 4194304;
  const size_t each = 50000;
  unsigned char* out = malloc(longest > each * (size_t)size ? longest : each * (size_t)size);
  unsigned char* in = malloc(longest > each * (size_t)size ? longest : each * (size_t)size);
  long bad = out == NULL || in == NULL;
  const size_t lengths[] = {0, 8, 4096, 65536, 1048576, 4194304};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
    if (size == 2 && lengths[i] <= longest) bad += ping_pong(rank, out, in, lengths[i], rounds);
  }
  int round = 0;
  while (round < all_rounds || (count > 4 && goes_on(rank, words[4]))) {
    bad += all_to_all(rank, size, out, in, each, round++);
  }
  long all = 0;
  MPI_Reduce(&bad, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf(all == 0 ? "verified\n" : "WRONG: %ld bytes\n", all);
  MPI_Finalize();
  free(out);
  free(in);
  return 0;
}
