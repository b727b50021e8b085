/* How long an all-reduce takes, for sums of 8 bytes to 1 MiB of doubles: the median over the samples of the slowest
 * rank's time. The sums are of whole numbers, so that they are exact in any order, and are verified. */
#include "program.h"

static long long largest = 1 << 20, samples = 21, rounds = 20, timing = 1;
static int rank, ranks;

static double sample(const double* in, double* out, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (long long i = 0; i < rounds; ++i) MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double slowest, own = (MPI_Wtime() - begin) / (double)rounds;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Option options[] = {
      {"largest", &largest, 8, 1 << 28, "bytes of the largest sum"},
      {"samples", &samples, 1, 100000, "samples of a size"},
      {"rounds", &rounds, 1, 1000000, "all-reduces of a sample"},
      {"timing", &timing, 0, 1, "0: print no times"},
  };
  read_options(argc, argv, "Measures all-reduces of 8 bytes and more, eight times as many each time.", options, 4);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int most = (int)(largest / 8);
  double* in = (double*)calloc((size_t)most, sizeof(double));
  double* out = (double*)calloc((size_t)most, sizeof(double));
  double* seconds = (double*)calloc((size_t)samples, sizeof(double));

  int wrong = 0;
  uint64_t digest = digest_start;
  for (long long count = 1;; count = count * 8 < most ? count * 8 : most) {
    for (long long i = 0; i < samples; ++i) {
      for (long long k = 0; k < count; ++k) in[k] = (double)(rank + k + i);
      seconds[i] = sample(in, out, (int)count);
      const double of_ranks = (double)ranks * (ranks - 1) / 2;
      for (long long k = 0; k < count; ++k) wrong |= out[k] != of_ranks + (double)ranks * (double)(k + i);
      digest = digest_bytes(digest, out, (size_t)count * sizeof(double));
    }
    if (rank == 0 && timing)
      printf("allreduce: %lld bytes median %.3f us\n", count * 8, median(seconds, (int)samples) * 1e6);
    if (count >= most) break;
  }
  int any_wrong;
  MPI_Allreduce(&wrong, &any_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  digest = digest_of_all(digest, MPI_COMM_WORLD);
  if (rank == 0) printf("allreduce: digest %016llx %s\n", (unsigned long long)digest, any_wrong ? "WRONG" : "verified");
  MPI_Finalize();
  return any_wrong;
}
