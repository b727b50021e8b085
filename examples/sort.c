/* Sorts 64-bit keys that are spread over the ranks: splitters from samples of all ranks (Allgather), the sizes of the
 * buckets by Alltoall, the keys by Alltoallv, then a sort of the own bucket. Verified: every rank's keys are in order,
 * no key is below the rank before's last one, and count, sum and exclusive or of all keys are what they were. */
#include "program.h"

enum { samples_per_rank = 64 };

static long long keys = 200000;
static int rank, ranks;

struct Totals {
  uint64_t count, sum, exclusive_or;
};

static int compare_keys(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

static struct Totals totals(const uint64_t* key, uint64_t count) {
  uint64_t added[2] = {count, 0}, all_added[2], folded = 0, all_folded;
  for (uint64_t i = 0; i < count; ++i) {
    added[1] += key[i];
    folded ^= key[i];
  }
  MPI_Allreduce(added, all_added, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&folded, &all_folded, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
  return (struct Totals){all_added[0], all_added[1], all_folded};
}

/* The first key of each bucket but the first, the same on every rank. */
static void choose_splitters(const uint64_t* sorted, long long count, uint64_t* splitters) {
  uint64_t own[samples_per_rank];
  uint64_t* all = (uint64_t*)calloc((size_t)ranks * samples_per_rank, sizeof *all);
  for (int i = 0; i < samples_per_rank; ++i) own[i] = count > 0 ? sorted[count * i / samples_per_rank] : 0;
  MPI_Allgather(own, samples_per_rank, MPI_UINT64_T, all, samples_per_rank, MPI_UINT64_T, MPI_COMM_WORLD);
  qsort(all, (size_t)ranks * samples_per_rank, sizeof *all, compare_keys);
  for (int i = 1; i < ranks; ++i) splitters[i - 1] = all[i * samples_per_rank];
  free(all);
}

/* Sends every key to the rank whose bucket it is in; returns the received keys, which the caller frees. */
static uint64_t* exchange(const uint64_t* sorted, long long count, const uint64_t* splitters, long long* received) {
  int* table = (int*)calloc((size_t)ranks * 4, sizeof(int));
  int *out = table, *out_at = table + ranks, *in = table + 2 * ranks, *in_at = table + 3 * ranks;
  for (long long i = 0, bucket = 0; i < count; ++i) {
    while (bucket + 1 < ranks && sorted[i] >= splitters[bucket]) ++bucket;
    ++out[bucket];
  }
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 1; i < ranks; ++i) {
    out_at[i] = out_at[i - 1] + out[i - 1];
    in_at[i] = in_at[i - 1] + in[i - 1];
  }
  *received = in_at[ranks - 1] + in[ranks - 1];
  uint64_t* bucket = (uint64_t*)calloc((size_t)*received + 1, sizeof *bucket);
  MPI_Alltoallv(sorted, out, out_at, MPI_UINT64_T, bucket, in, in_at, MPI_UINT64_T, MPI_COMM_WORLD);
  free(table);
  return bucket;
}

static int in_order(const uint64_t* key, long long count) {
  int good = 1, all_good;
  for (long long i = 1; i < count; ++i) good &= key[i - 1] <= key[i];
  /* The largest key so far travels up the ranks, so that an empty bucket hides nothing. */
  uint64_t below = 0;
  if (rank > 0) MPI_Recv(&below, 1, MPI_UINT64_T, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (count > 0) {
    good &= below <= key[0];
    below = key[count - 1];
  }
  if (rank + 1 < ranks) MPI_Send(&below, 1, MPI_UINT64_T, rank + 1, 1, MPI_COMM_WORLD);
  MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all_good;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Option options[] = {{"keys", &keys, 0, 2000000000, "keys in all"}};
  read_options(argc, argv, "Sorts keys that are spread over the ranks.", options, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const long long first = share_begin(keys, rank, ranks), count = share_begin(keys, rank + 1, ranks) - first;
  uint64_t* key = (uint64_t*)calloc((size_t)count + 1, sizeof *key);
  for (long long i = 0; i < count; ++i) key[i] = scrambled((uint64_t)(first + i));
  const struct Totals before = totals(key, (uint64_t)count);

  qsort(key, (size_t)count, sizeof *key, compare_keys);
  uint64_t* splitters = (uint64_t*)calloc((size_t)ranks, sizeof *splitters);
  choose_splitters(key, count, splitters);
  long long received;
  uint64_t* bucket = exchange(key, count, splitters, &received);
  qsort(bucket, (size_t)received, sizeof *bucket, compare_keys);

  const struct Totals after = totals(bucket, (uint64_t)received);
  const int verified = in_order(bucket, received) && before.count == after.count && before.sum == after.sum &&
                       before.exclusive_or == after.exclusive_or;
  const uint64_t digest =
      digest_of_all(digest_bytes(digest_start, bucket, (size_t)received * sizeof *bucket), MPI_COMM_WORLD);
  if (rank == 0)
    printf("sort: keys %llu sum %016llx digest %016llx %s\n", (unsigned long long)after.count,
           (unsigned long long)after.sum, (unsigned long long)digest, verified ? "verified" : "WRONG");
  free(key);
  free(splitters);
  free(bucket);
  MPI_Finalize();
  return verified ? 0 : 1;
}
