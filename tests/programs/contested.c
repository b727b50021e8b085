/* Two ranks give something wrong to one collective, each in another replica: with three replicas every result is then
 * another in each, and has no majority. What each rank has given has one. The results are known in advance.
 *
 * usage: contested [SCENARIO...]; without replication nobody lies. */
#include "replica.h"
#include "scenarios.h"

enum { length = 6 };

static int replica;

/* What a rank lies with: rank 0 in replica 0, rank 1 in replica 1. */
static int lies(void) {
  return rank == replica && rank < 2;
}

static void give(int* own, int n, int value) {
  for (int i = 0; i < n; ++i) own[i] = value + i;
  if (lies()) own[n - 1] ^= 1 << (4 + replica);
}

static void allreduce(void) {
  int own[length], all[length];
  give(own, length, 10 * rank);
  MPI_Allreduce(own, all, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < length; ++i) CHECK(all[i] == 5 * ranks * (ranks - 1) + ranks * i);
}

/* One number: nothing to divide. */
static void scalar(void) {
  int own[1], all = 0;
  give(own, 1, 10 * rank);
  MPI_Allreduce(own, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == 5 * ranks * (ranks - 1));
  double mine = 0.1 * (rank + 1) + (lies() ? 1e-3 * (1 + replica) : 0), sum, wanted = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) wanted += 0.1 * (i + 1);
  CHECK(sum - wanted < 1e-12 && wanted - sum < 1e-12);
}

static void in_place(void) {
  int all[length];
  give(all, length, 10 * rank);
  MPI_Allreduce(MPI_IN_PLACE, all, length, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  for (int i = 0; i < length; ++i) CHECK(all[i] == 10 * (ranks - 1) + i);
  give(all, 1, 7 * rank);
  MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all[0] == 7 * ranks * (ranks - 1) / 2);
}

static void reduce(void) {
  int own[1], all = 0, scanned = 0, before = -1;
  give(own, 1, 10 * rank);
  MPI_Reduce(own, &all, 1, MPI_INT, MPI_SUM, ranks - 1, MPI_COMM_WORLD);
  if (rank == ranks - 1) CHECK(all == 5 * ranks * (ranks - 1));
  give(own, 1, 10 * rank);
  MPI_Scan(own, &scanned, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(scanned == 5 * rank * (rank + 1));
  give(own, 1, 10 * rank);
  MPI_Exscan(own, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(rank == 0 || before == 5 * rank * (rank - 1));
}

static void reduce_scatter(void) {
  int own[64], counts[64], part = 0;
  for (int i = 0; i < ranks; ++i) counts[i] = 1;
  give(own, ranks, 10 * rank);
  MPI_Reduce_scatter(own, &part, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(part == 5 * ranks * (ranks - 1) + ranks * rank);
  give(own, ranks, 10 * rank);
  MPI_Reduce_scatter_block(own, &part, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(part == 5 * ranks * (ranks - 1) + ranks * rank);
}

static void gathers(void) {
  int own[length], all[64 * length], counts[64], displacements[64];
  for (int i = 0; i < ranks; ++i) counts[i] = length, displacements[i] = (ranks - 1 - i) * length;
  give(own, length, 10 * rank);
  MPI_Allgather(own, length, MPI_INT, all, length, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks * length; ++i) CHECK(all[i] == 10 * (i / length) + i % length);
  give(own, length, 10 * rank);
  MPI_Allgatherv(own, length, MPI_INT, all, counts, displacements, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks * length; ++i) CHECK(all[i] == 10 * (ranks - 1 - i / length) + i % length);
  give(own, length, 10 * rank);
  MPI_Gather(own, length, MPI_INT, all, length, MPI_INT, 2 % ranks, MPI_COMM_WORLD);
  if (rank == 2 % ranks)
    for (int i = 0; i < ranks * length; ++i) CHECK(all[i] == 10 * (i / length) + i % length);
}

static void exchanges(void) {
  int own[64 * 2], all[64 * 2];
  for (int i = 0; i < ranks; ++i) give(own + 2 * i, 2, 100 * rank + 10 * i);
  MPI_Alltoall(own, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) CHECK(all[2 * i] == 100 * i + 10 * rank && all[2 * i + 1] == 100 * i + 10 * rank + 1);
}

/* Non-blocking ones are voted on by block and by element: no other rank takes part. */
static void without_blocking(void) {
  int own[length], all[64 * length], sums[2], mine[2] = {rank, rank};
  MPI_Request requests[2];
  give(own, length, 10 * rank);
  if (lies()) mine[rank] += 64;
  MPI_Iallgather(own, length, MPI_INT, all, length, MPI_INT, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(mine, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < ranks * length; ++i) CHECK(all[i] == 10 * (i / length) + i % length);
  CHECK(sums[0] == ranks * (ranks - 1) / 2 && sums[1] == sums[0]);
}

/* Round a ring: rank 2 has a neighbour on each side, of which one lies and the other does in another replica. */
static void neighbours(void) {
  int own[length], all[2 * length], dimension = ranks, periodic = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &dimension, &periodic, 0, &ring);
  give(own, length, 10 * rank);
  MPI_Neighbor_allgather(own, length, MPI_INT, all, length, MPI_INT, ring);
  for (int i = 0; i < length; ++i) {
    CHECK(all[i] == 10 * ((rank + ranks - 1) % ranks) + i);
    CHECK(all[length + i] == 10 * ((rank + 1) % ranks) + i);
  }
  MPI_Comm_free(&ring);
}

/* On part of the ranks, and many times: whoever has nothing to repeat goes on. */
static void again(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &half);
  for (int round = 0; round < 20; ++round) {
    int own[1], sum = 0, size;
    MPI_Comm_size(half, &size);
    give(own, 1, rank + round);
    MPI_Allreduce(own, &sum, 1, MPI_INT, MPI_SUM, half);
    CHECK(rank >= 2 || sum == 1 + 2 * round);
  }
  MPI_Comm_free(&half);
}

/* The same rank in two replicas: nothing tells who is right. */
static void hopeless(void) {
  int own = rank + (rank == 0 && replica >= 0 && replica < 2 ? 5 + replica : 0), sum;
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const struct Scenario scenarios[] = {{"allreduce", allreduce},
                                              {"scalar", scalar},
                                              {"in_place", in_place},
                                              {"reduce", reduce},
                                              {"reduce_scatter", reduce_scatter},
                                              {"gathers", gathers},
                                              {"exchanges", exchanges},
                                              {"without_blocking", without_blocking},
                                              {"neighbours", neighbours},
                                              {"again", again}};
  static const struct Scenario alone[] = {{"hopeless", hopeless}};
  replica = own_replica();
  MPI_Init(&argc, &argv);
  const int chosen_alone = argc > 1 && strcmp(argv[1], "hopeless") == 0;
  const int code = chosen_alone ? run_scenarios(argc, argv, alone, 1)
                                : run_scenarios(argc, argv, scenarios, (int)(sizeof scenarios / sizeof *scenarios));
  MPI_Finalize();
  return code;
}
