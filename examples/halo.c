/* How long a halo exchange takes: every rank exchanges messages of one size with both neighbours on a ring, for several
 * sizes, and the median over the samples of the slowest rank's time is printed. What arrives is verified. */
#include "program.h"

static long long smallest = 8, largest = 65536, samples = 21, rounds = 50, timing = 1;
static int rank, ranks;

static void fill(unsigned char* data, size_t bytes, int from, long long round) {
  for (size_t i = 0; i < bytes; ++i) data[i] = (unsigned char)((size_t)from * 37 + (size_t)round * 11 + i);
}

static void exchange(unsigned char* const out[2], unsigned char* const in[2], int bytes) {
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Request requests[4];
  MPI_Irecv(in[0], bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(in[1], bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out[1], bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(out[0], bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* Seconds of one exchange, the same on every rank. */
static double sample(unsigned char* const out[2], unsigned char* const in[2], int bytes) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (long long i = 0; i < rounds; ++i) exchange(out, in, bytes);
  double slowest, own = (MPI_Wtime() - begin) / (double)rounds;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Option options[] = {
      {"smallest", &smallest, 0, 1 << 26, "bytes of the smallest message"},
      {"largest", &largest, 1, 1 << 26, "bytes of the largest message"},
      {"samples", &samples, 1, 100000, "samples of a size"},
      {"rounds", &rounds, 1, 1000000, "exchanges of a sample"},
      {"timing", &timing, 0, 1, "0: print no times"},
  };
  read_options(argc, argv, "Measures halo exchanges on a ring of ranks.", options, 5);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  unsigned char *out[2], *in[2], *expected = (unsigned char*)calloc((size_t)largest + 1, 1);
  for (int side = 0; side < 2; ++side) {
    out[side] = (unsigned char*)calloc((size_t)largest + 1, 1);
    in[side] = (unsigned char*)calloc((size_t)largest + 1, 1);
  }
  double* seconds = (double*)calloc((size_t)samples, sizeof(double));

  int wrong = 0;
  uint64_t digest = digest_start;
  long long bytes = smallest;
  for (;;) {
    const size_t size = (size_t)bytes;
    for (long long i = 0; i < samples; ++i) {
      fill(out[0], size, rank, i);
      fill(out[1], size, rank, i);
      seconds[i] = sample(out, in, (int)bytes);
      for (int side = 0; side < 2; ++side) {
        fill(expected, size, (side == 0 ? rank + ranks - 1 : rank + 1) % ranks, i);
        wrong |= memcmp(in[side], expected, size) != 0;
        digest = digest_bytes(digest, in[side], size);
      }
    }
    if (rank == 0 && timing) printf("halo: %lld bytes median %.3f us\n", bytes, median(seconds, (int)samples) * 1e6);
    if (bytes >= largest) break;
    bytes = bytes == 0 ? 1 : bytes * 8 < largest ? bytes * 8 : largest;
  }
  int any_wrong;
  MPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  digest = digest_of_all(digest, MPI_COMM_WORLD);
  if (rank == 0) printf("halo: digest %016llx %s\n", (unsigned long long)digest, any_wrong ? "WRONG" : "verified");
  MPI_Finalize();
  return any_wrong;
}
