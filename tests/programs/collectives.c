/* Collectives that the examples do not use: persistent ones, topology neighbours, intercommunicators, and, where the
 * library has them, functions that take large counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "replica.h"
#include "scenarios.h"

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define PERSISTENT(name) MPIX_##name##_init
#else
#define PERSISTENT(name) MPI_##name##_init
#endif

static void persistent(void) {
  int own[2] = {0}, all[32], sum[2], root = 0;
  int counts[16], displacements[16];
  MPI_Request requests[6];
  for (int i = 0; i < ranks; ++i) {
    counts[i] = 2;
    displacements[i] = 2 * (ranks - 1 - i);
  }
  PERSISTENT(Allreduce)(own, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  PERSISTENT(Allgatherv)
  (own, 2, MPI_INT, all, counts, displacements, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  PERSISTENT(Bcast)(&root, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  PERSISTENT(Barrier)(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
  for (int round = 0; round < 5; ++round) {
    own[0] = rank + round;
    own[1] = 1;
    root = rank == 0 ? 100 + round : -1;
    if (round % 2) {
      MPI_Startall(4, requests);
    } else {
      for (int i = 0; i < 4; ++i) MPI_Start(&requests[i]);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    CHECK(sum[0] == ranks * (ranks - 1) / 2 + ranks * round && sum[1] == ranks && root == 100 + round);
    for (int i = 0; i < ranks; ++i) CHECK(all[2 * (ranks - 1 - i)] == i + round && all[2 * (ranks - 1 - i) + 1] == 1);
  }
  for (int i = 0; i < 4; ++i) {
    CHECK(requests[i] != MPI_REQUEST_NULL);
    MPI_Request_free(&requests[i]);
    CHECK(requests[i] == MPI_REQUEST_NULL);
  }
}

/* Each rank starts them in another order (MPI 4.0, section 6.13), and starts those again that are over. */
static void persistent_in_any_order(void) {
  enum { most = 8, kinds = 5 };
  int own[most], sums[most], scanned, before = 0, part, from[most], once = rank;
  MPI_Datatype pair;
  MPI_Request requests[kinds];
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  int to_all[2 * most], from_all[2 * most];
  PERSISTENT(Reduce)(own, sums, ranks, MPI_INT, MPI_SUM, ranks - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  PERSISTENT(Scan)(&once, &scanned, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  PERSISTENT(Reduce_scatter_block)(own, &part, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  PERSISTENT(Gather)(&once, 1, MPI_INT, from, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
  PERSISTENT(Alltoall)(to_all, 1, pair, from_all, 1, pair, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[4]);
  MPI_Type_free(&pair);
  for (int i = 0; i < rank; ++i) before += i;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < ranks; ++i) own[i] = to_all[2 * i] = 10 * rank + i + round, to_all[2 * i + 1] = -i;
    for (int i = 0; i < kinds; ++i) MPI_Start(&requests[(i + rank + round) % kinds]);
    MPI_Waitall(kinds, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < ranks; ++i) {
      if (rank == ranks - 1) CHECK(sums[i] == 5 * ranks * (ranks - 1) + ranks * (i + round));
      if (rank == 0) CHECK(from[i] == i);
      CHECK(from_all[2 * i] == 10 * i + rank + round && from_all[2 * i + 1] == -rank);
    }
    CHECK(scanned == before + rank && part == 10 * (ranks - 1) + rank + round);
  }
  for (int i = 0; i < kinds; ++i) MPI_Request_free(&requests[i]);
}

/* Two collectives at once, of which rank 2 has something to say in both: in the gather at once, in the reduction when
 * it has heard rank 3, which is late. One replica of rank 2 is later still, and has heard it before it begins with the
 * gather. So the messages of the two leave rank 2 in one order there and in the other elsewhere. A bit may be flipped
 * in what is gathered. */
static void overtaken(void) {
  const int late_replica = 2;
  int own = rank + 1, sum = 0, gathered[16], flag;
  MPI_Request requests[2];
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 3 && own_replica() >= 0) usleep(200000);
  if (rank == 2 && own_replica() == late_replica) usleep(400000);
  MPI_Ireduce(&own, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &requests[0]);
  for (int look = 0; rank == 2 && look < 20; ++look) {
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    usleep(1000);
  }
  MPI_Igather(&own, 1, MPI_INT, gathered, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (rank != 0) return;
  CHECK(sum == ranks * (ranks + 1) / 2);
  for (int i = 0; i < ranks; ++i) CHECK(gathered[i] == i + 1);
}

/* A broadcast of what the program goes by. The root keeps what it has given: where that is another number in one of its
 * replicas, that one goes another way, or never comes to an end. */
static void steered(void) {
  int steps = 3, requested = 2, started = 4, all = 0;
  MPI_Request request;
  MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Ibcast(&requested, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  PERSISTENT(Bcast)(&started, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  for (int i = 0; i < steps + requested + started; ++i) {
    const int one = 1;
    int sum;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    all += sum;
  }
  CHECK(all == 9 * ranks);
}

static void neighbours(void) {
  const int dims[1] = {ranks}, periods[1] = {1};
  int own[2] = {rank, rank + 100}, got[2], left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Comm ring, graph;
  MPI_Request request;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  MPI_Neighbor_allgather(own, 1, MPI_INT, got, 1, MPI_INT, ring);
  CHECK(got[0] == left && got[1] == right);
  MPI_Ineighbor_alltoall(own, 1, MPI_INT, got, 1, MPI_INT, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (ranks > 2) CHECK(got[0] == left + 100 && got[1] == right);
  PERSISTENT(Neighbor_alltoall)(own, 1, MPI_INT, got, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (ranks > 2) CHECK(got[0] == left + 100 && got[1] == right);
  MPI_Request_free(&request);
  MPI_Comm_free(&ring);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  const int one = 1, two = 2, zero = 0;
  const MPI_Aint none = 0;
  const MPI_Datatype type = MPI_INT;
  MPI_Neighbor_allgatherv(own, 2, MPI_INT, got, &two, &zero, MPI_INT, graph);
  CHECK(got[0] == left && got[1] == left + 100);
  got[0] = -1;
  MPI_Neighbor_alltoallw(own, &one, &none, &type, got, &one, &none, &type, graph);
  CHECK(got[0] == left);
  MPI_Comm_free(&graph);
}

/* Every rank is every other's neighbour. Which ranks tell the others first is another in each replica, and MPI
 * takes neighbours in the order in which it hears of them. */
static void told_in_any_order(void) {
  int others[16], weights[16], from[16], to[16], from_weights[16], to_weights[16], got[16], in, out, weighted;
  const int degree = ranks;
  int sent = rank; /* which may be struck: `rank` names neighbours */
  MPI_Comm graph;
  for (int i = 0; i < degree; ++i) {
    others[i] = i;
    weights[i] = 100 * rank + i;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (own_replica() >= 0 && rank == own_replica()) usleep(100000);
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, others, weights, MPI_INFO_NULL, 0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK(in == degree && out == degree && weighted);
  MPI_Dist_graph_neighbors(graph, degree, from, from_weights, degree, to, to_weights);
  MPI_Neighbor_alltoall(to_weights, 1, MPI_INT, got, 1, MPI_INT, graph);
  for (int i = 0; i < degree; ++i) CHECK(got[i] == from_weights[i] && got[i] / 100 == from[i] && got[i] % 100 == rank);
  MPI_Neighbor_allgather(&sent, 1, MPI_INT, got, 1, MPI_INT, graph);
  for (int i = 0; i < degree; ++i) CHECK(got[i] == from[i]);
  MPI_Comm_free(&graph);
  /* A ring without weights, told by rank 0 alone. */
  int sources[16], degrees[16];
  for (int i = 0; i < ranks; ++i) {
    sources[i] = i;
    degrees[i] = 1;
    others[i] = (i + 1) % ranks;
  }
  MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? ranks : 0, sources, degrees, others, MPI_UNWEIGHTED, MPI_INFO_NULL,
                        0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK(in == 1 && out == 1 && !weighted);
  sent = rank;
  MPI_Neighbor_allgather(&sent, 1, MPI_INT, got, 1, MPI_INT, graph);
  CHECK(got[0] == (rank + ranks - 1) % ranks);
  MPI_Comm_free(&graph);
  /* Rank 0 has no neighbour, and the others one that is themselves. */
  degrees[0] = 1;
  MPI_Dist_graph_create(MPI_COMM_WORLD, rank > 0, &rank, degrees, &rank, rank > 0 ? weights : MPI_WEIGHTS_EMPTY,
                        MPI_INFO_NULL, 0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  CHECK(in == (rank > 0) && out == (rank > 0));
  MPI_Comm_free(&graph);
}

/* What a grid's edge has no neighbour for stays as it was, here another thing in each replica: the address of memory.
 */
static void grid_edges(void) {
  const int dims[2] = {ranks, 1}, periods[2] = {0, 0}, counts[4] = {1, 1, 1, 1}, places[4] = {3, 2, 1, 0};
  const MPI_Aint bytes[4] = {24, 16, 8, 0};
  const MPI_Datatype types[4] = {MPI_LONG, MPI_LONG, MPI_LONG, MPI_LONG};
  long own[4] = {rank, rank, rank, rank}, *memory = malloc(8 << 20);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  for (int call = 0; call < 5; ++call) {
    long got[4];
    for (int i = 0; i < 4; ++i) got[i] = (long)memory;
    if (call == 0) MPI_Neighbor_allgather(own, 1, MPI_LONG, got, 1, MPI_LONG, grid);
    if (call == 1) MPI_Neighbor_allgatherv(own, 1, MPI_LONG, got, counts, places, MPI_LONG, grid);
    if (call == 2) MPI_Neighbor_alltoall(own, 1, MPI_LONG, got, 1, MPI_LONG, grid);
    if (call == 3) MPI_Neighbor_alltoallv(own, counts, places, MPI_LONG, got, counts, places, MPI_LONG, grid);
    if (call == 4) MPI_Neighbor_alltoallw(own, counts, bytes, types, got, counts, bytes, types, grid);
    const int turned = call == 1 || call >= 3, below = turned ? 3 : 0, above = turned ? 2 : 1;
    CHECK(got[below] == (rank > 0 ? rank - 1 : (long)memory));
    CHECK(got[above] == (rank + 1 < ranks ? rank + 1 : (long)memory));
    CHECK(got[turned ? 1 : 2] == (long)memory && got[turned ? 0 : 3] == (long)memory);
  }
  free(memory);
  MPI_Comm_free(&grid);
}

static void at_bottom(void) {
  int values[8], sum = 0;
  const int lengths[2] = {2, 1}, before = (rank + ranks - 1) % ranks;
  MPI_Aint addresses[2];
  MPI_Datatype type;
  MPI_Get_address(&values[0], &addresses[0]);
  MPI_Get_address(&values[4], &addresses[1]);
  MPI_Type_create_hindexed(2, lengths, addresses, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < 8; ++i) values[i] = rank * 10 + i;
  MPI_Sendrecv_replace(MPI_BOTTOM, 1, type, (rank + 1) % ranks, 0, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(values[0] == before * 10 && values[1] == before * 10 + 1 && values[4] == before * 10 + 4);
  CHECK(values[2] == rank * 10 + 2 && values[5] == rank * 10 + 5);
  MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 8; ++i) sum += i == 0 || i == 1 || i == 4 ? values[i] : 0;
  CHECK(sum == (ranks - 1) * 30 + 5);
  MPI_Type_free(&type);
}

/* The buffer of the result holds what each rank gives. Each function is called first by itself, so that a flipped bit
 * can be had in its first message. */
static void allreduce_in_place(void) {
  int sum[2] = {rank, 1};
  MPI_Request request;
  MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum[0] == ranks * (ranks - 1) / 2 && sum[1] == ranks);
  MPI_Iallreduce(MPI_IN_PLACE, sum, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum[0] == ranks * (ranks - 1) / 2 && sum[1] == ranks);
}

static void allgather_in_place(void) {
  int all[32], counts[16], places[16];
  MPI_Request request;
  for (int i = 0; i < ranks; ++i) all[i] = i == rank ? 7 * rank : -1;
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) CHECK(all[i] == 7 * i);
  for (int i = 0; i < ranks; ++i) counts[i] = 1, places[i] = 2 * (ranks - 1 - i);
  for (int i = 0; i < 2 * ranks; ++i) all[i] = i == places[rank] ? rank + 1 : -1;
  MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ranks; ++i) CHECK(all[places[i]] == i + 1);
}

/* What rank `from` gives to rank `to`. */
static int given(int from, int to) {
  return 100 * from + to;
}

static void alltoall_in_place(void) {
  int blocks[16], counts[16], places[16];
  MPI_Request request;
  for (int i = 0; i < ranks; ++i) blocks[i] = given(rank, i), counts[i] = 1, places[i] = i;
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) CHECK(blocks[i] == given(i, rank));
  MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, blocks, counts, places, MPI_INT, MPI_COMM_WORLD,
                 &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ranks; ++i) CHECK(blocks[i] == given(rank, i));
}

static void alltoallw(void) {
  int out[16], in[16], counts[16], bytes[16], back[16];
  MPI_Datatype types[16];
  MPI_Request request;
  for (int i = 0; i < ranks; ++i) {
    out[i] = given(rank, i);
    counts[i] = 1;
    bytes[i] = i * (int)sizeof(int);
    back[i] = (ranks - 1 - i) * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  MPI_Alltoallw(out, counts, bytes, types, in, counts, back, types, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) CHECK(in[ranks - 1 - i] == given(i, rank));
  MPI_Ialltoallw(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < ranks; ++i) CHECK(in[i] == given(i, rank));
  MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, counts, bytes, types, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) CHECK(in[i] == given(rank, i));
}

/* A block for each neighbour; at the ends of the line one of them is not there. */
static void neighbour_blocks(void) {
  const int dims[1] = {ranks}, periods[1] = {0}, counts[2] = {1, 1}, places[2] = {0, 1};
  const MPI_Aint bytes[2] = {0, sizeof(int)};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  int own[2] = {given(rank, rank - 1), given(rank, rank + 1)};
  MPI_Comm line;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &line);
  for (int call = 0; call < 3; ++call) {
    int got[2] = {-1, -1};
    if (call == 0) MPI_Neighbor_alltoallw(own, counts, bytes, types, got, counts, bytes, types, line);
    if (call == 1) MPI_Neighbor_alltoallv(own, counts, places, MPI_INT, got, counts, places, MPI_INT, line);
    if (call == 2) MPI_Neighbor_alltoall(own, 1, MPI_INT, got, 1, MPI_INT, line);
    CHECK(got[0] == (rank > 0 ? given(rank - 1, rank) : -1));
    CHECK(got[1] == (rank + 1 < ranks ? given(rank + 1, rank) : -1));
  }
  MPI_Comm_free(&line);
}

static void rooted_in_place(void) {
  int all[16], counts[16], places[16], own = rank + 3, part[16];
  const int root = 0;
  for (int i = 0; i < ranks; ++i) all[i] = i == rank ? own : -1, counts[i] = 1, places[i] = i;
  const void* mine = rank == root ? MPI_IN_PLACE : &own;
  MPI_Gather(mine, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < ranks && rank == root; ++i) CHECK(all[i] == i + 3);
  for (int i = 0; i < ranks && rank == root; ++i) all[i] = i == rank ? own : -1;
  MPI_Gatherv(mine, 1, MPI_INT, all, counts, places, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; i < ranks && rank == root; ++i) CHECK(all[i] == i + 3);
  own = -1;
  MPI_Scatter(all, 1, MPI_INT, rank == root ? MPI_IN_PLACE : &own, 1, MPI_INT, root, MPI_COMM_WORLD);
  CHECK(rank == root || own == rank + 3);
  own = rank;
  MPI_Reduce(mine, rank == root ? &own : NULL, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  CHECK(rank != root || own == ranks * (ranks - 1) / 2);
  for (int i = 0; i < ranks; ++i) part[i] = rank + i;
  MPI_Reduce_scatter_block(MPI_IN_PLACE, part, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(part[0] == ranks * (ranks - 1) / 2 + ranks * rank);
}

static void intercommunicators(void) {
  if (ranks < 2) return;
  MPI_Comm half, across, merged;
  const int side = rank % 2;
  int size, remote, own = rank, got[16], sum;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &across);
  MPI_Comm_remote_size(across, &remote);
  MPI_Comm_size(across, &size);
  CHECK(size + remote == ranks);
  MPI_Allgather(&own, 1, MPI_INT, got, 1, MPI_INT, across);
  for (int i = 0; i < remote; ++i) CHECK(got[i] == 2 * i + 1 - side);
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, across);
  int expected = 0;
  for (int i = 1 - side; i < ranks; i += 2) expected += i;
  CHECK(sum == expected);
  int here;
  MPI_Comm_rank(across, &here);
  if (side == 0) {
    MPI_Bcast(&own, 1, MPI_INT, here == 0 ? MPI_ROOT : MPI_PROC_NULL, across);
  } else {
    int from = -1;
    MPI_Bcast(&from, 1, MPI_INT, 0, across);
    CHECK(from == 0);
  }
  if (here < remote && here < size) {
    int answer = -1;
    MPI_Sendrecv(&own, 1, MPI_INT, here, 3, &answer, 1, MPI_INT, here, 3, across, MPI_STATUS_IGNORE);
    CHECK(answer == 2 * here + 1 - side);
  }
  MPI_Intercomm_merge(across, side, &merged);
  MPI_Comm_size(merged, &size);
  CHECK(size == ranks);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&across);
  MPI_Comm_free(&half);
}

/* The composition of affine maps x -> a x + b, which does not commute. */
static void compose(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  const int* first = in;
  int* second = inout;
  for (int i = 0; i < *length; ++i) {
    second[2 * i + 1] += second[2 * i] * first[2 * i + 1];
    second[2 * i] *= first[2 * i];
  }
}

/* Every collective between two groups, whose lengths differ where the number of ranks is odd. */
static void across(void) {
  if (ranks < 2) return;
  MPI_Comm half, inter;
  MPI_Request request;
  MPI_Datatype map;
  MPI_Op op;
  const int side = rank % 2;
  int here, size, remote, out[64], in[64], counts[16], places[16];
  MPI_Datatype types[16];
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 6, &inter);
  MPI_Comm_rank(inter, &here);
  MPI_Comm_size(inter, &size);
  MPI_Comm_remote_size(inter, &remote);
  const int root = side == 1 ? 0 : here == 0 ? MPI_ROOT : MPI_PROC_NULL, rooted = root == MPI_ROOT;
  for (int i = 0; i < remote; ++i) {
    out[i] = given(rank, 2 * i + 1 - side);
    counts[i] = 1;
    places[i] = remote - 1 - i;
    types[i] = MPI_INT;
  }
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, inter);
  for (int i = 0; i < remote; ++i) CHECK(in[i] == given(2 * i + 1 - side, rank));
  for (int i = 0; i < remote; ++i) places[i] *= (int)sizeof(int), out[remote - 1 - i] = given(rank, 2 * i + 1 - side);
  MPI_Alltoallw(out, counts, places, types, in, counts, places, types, inter);
  for (int i = 0; i < remote; ++i) CHECK(in[remote - 1 - i] == given(2 * i + 1 - side, rank));
  for (int i = 0; i < remote; ++i) places[i] = 2 * i;
  int own_rank = rank; /* a flip stays in the sender's memory */
  MPI_Iallgatherv(&own_rank, 1, MPI_INT, in, counts, places, MPI_INT, inter, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < remote; ++i) CHECK(in[2 * i] == 2 * i + 1 - side);
  own_rank = rank;
  MPI_Gather(&own_rank, 1, MPI_INT, in, 1, MPI_INT, root, inter);
  for (int i = 0; i < remote && rooted; ++i) CHECK(in[i] == 2 * i + 1);
  for (int i = 0; i < remote; ++i) out[i] = 50 + i;
  MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, root, inter);
  CHECK(side == 0 || in[0] == 50 + here);
  MPI_Barrier(inter);
  MPI_Type_contiguous(2, MPI_INT, &map);
  MPI_Type_commit(&map);
  MPI_Op_create(compose, 0, &op);
  int expected[2] = {1, 0}, own[2] = {2, rank}, all[2] = {0, 0};
  for (int i = 0; i < remote; ++i) {
    int next[2] = {2, 2 * i + 1 - side}, one = 1;
    compose(expected, next, &one, &map);
    memcpy(expected, next, sizeof next);
  }
  MPI_Allreduce(own, all, 1, map, op, inter);
  CHECK(all[0] == expected[0] && all[1] == expected[1]);
  all[0] = all[1] = 0;
  MPI_Reduce(own, all, 1, map, op, root, inter);
  CHECK(!rooted || (all[0] == expected[0] && all[1] == expected[1]));
  MPI_Op_free(&op);
  MPI_Type_free(&map);
  for (int i = 0; i < size * remote; ++i) out[i] = 10 * rank + i;
  MPI_Reduce_scatter_block(out, in, remote, MPI_INT, MPI_MAX, inter);
  const int last = 2 * (remote - 1) + 1 - side;
  for (int i = 0; i < remote; ++i) CHECK(in[i] == 10 * last + here * remote + i);
  int told = rooted ? 77 : -1;
  MPI_Ibcast(&told, 1, MPI_INT, root, inter, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(told == (side == 1 || rooted ? 77 : -1));
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* An operation of the program that is freed while reductions by it are pending, and another that is made then. In Open
   MPI 4.1 they are over before: it ends in a segmentation fault otherwise, without replication too. */
static void operations_freed(void) {
  int own[2] = {2, rank}, all[2][2], expected[2] = {1, 0};
  MPI_Datatype map;
  MPI_Op op, another;
  MPI_Request requests[2];
  MPI_Type_contiguous(2, MPI_INT, &map);
  MPI_Type_commit(&map);
  for (int i = 0; i < ranks; ++i) {
    int next[2] = {2, i}, one = 1;
    compose(expected, next, &one, &map);
    memcpy(expected, next, sizeof next);
  }
  MPI_Op_create(compose, 0, &op);
  PERSISTENT(Allreduce)(own, all[1], 1, map, op, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  memset(all, 0, sizeof all);
  MPI_Iallreduce(own, all[0], 1, map, op, MPI_COMM_WORLD, &requests[0]);
  MPI_Start(&requests[1]);
#ifndef OPEN_MPI
  MPI_Op_free(&op);
  CHECK(op == MPI_OP_NULL);
  MPI_Op_create(compose, 1, &another);
#endif
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(all[0][0] == expected[0] && all[0][1] == expected[1]);
  for (int time = 0; time < 2; ++time) {
    CHECK(all[1][0] == expected[0] && all[1][1] == expected[1]);
    all[1][0] = all[1][1] = 0;
    MPI_Start(&requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&requests[1]);
#ifdef OPEN_MPI
  MPI_Op_free(&op);
  MPI_Op_create(compose, 1, &another);
#endif
  MPI_Op_free(&another);
  MPI_Type_free(&map);
}

#if MPI_VERSION >= 4
static void large_counts(void) {
  int own[3] = {rank, rank + 1, rank + 2}, got[48];
  MPI_Count counts[16], count;
  MPI_Aint displacements[16];
  MPI_Request requests[2];
  MPI_Status status;
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (int i = 0; i < ranks; ++i) {
    counts[i] = 3;
    displacements[i] = 3 * i;
  }
  MPI_Irecv_c(got, 3, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_c(own, 3, MPI_INT, right, 1, MPI_COMM_WORLD);
  MPI_Wait(&requests[0], &status);
  MPI_Get_count_c(&status, MPI_INT, &count);
  CHECK(count == 3 && got[2] == left + 2);
  MPI_Iallgatherv_c(own, 3, MPI_INT, got, counts, displacements, MPI_INT, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  for (int i = 0; i < 3 * ranks; ++i) CHECK(got[i] == i / 3 + i % 3);
  MPI_Alltoallv_init_c(got, counts, displacements, MPI_INT, got + 3 * ranks, counts, displacements, MPI_INT,
                       MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Start(&requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  for (int i = 0; i < 3 * ranks; ++i) CHECK(got[3 * ranks + i] == rank + i % 3);
  MPI_Request_free(&requests[0]);
  MPI_Allreduce_c(MPI_IN_PLACE, own, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(own[0] == ranks - 1 && own[2] == ranks + 1);
  own[0] = rank;
  MPI_Isendrecv(own, 1, MPI_INT, right, 2, got, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], &status);
  CHECK(got[0] == left);
  MPI_Isendrecv_replace(own, 1, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], &status);
  CHECK(own[0] == left);
  MPI_Comm copy;
  MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &copy, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Barrier(copy);
  MPI_Comm_free(&copy);
}

/* More elements than an int can count, of a type that selects nothing, so that no memory is needed. */
static void beyond_int(void) {
  if (ranks < 2) return;
  MPI_Datatype nothing;
  const MPI_Count many = 3000000000;
  MPI_Count bytes = -1;
  MPI_Status status;
  MPI_Type_contiguous(0, MPI_CHAR, &nothing);
  MPI_Type_commit(&nothing);
  if (rank == 0) MPI_Send_c(NULL, many, nothing, 1, 4, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv_c(NULL, many, nothing, 0, 4, MPI_COMM_WORLD, &status);
    MPI_Get_elements_c(&status, MPI_BYTE, &bytes);
    CHECK(bytes == 0 && status.MPI_SOURCE == 0 && status.MPI_TAG == 4);
  }
  MPI_Bcast_c(NULL, many, nothing, 0, MPI_COMM_WORLD);
  MPI_Type_free(&nothing);
}
#endif

static int error_class(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}

/* Operations that are pending on a communicator that is freed go on. They have several rounds, so that some of them are
   still to be begun then; the next communicator may get the freed one's handle. Collectives of Open MPI 4.1 do not: it
   ends in a segmentation fault, without replication too. */
static void freed_while_pending(void) {
#ifndef OPEN_MPI
  enum { length = 1000 };
  static int sums[2][length], own[length];
  for (int i = 0; i < length; ++i) own[i] = rank + i;
#endif
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  for (int time = 0; time < 3; ++time) {
    MPI_Comm comm[2];
    MPI_Request requests[6] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                               MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int got = -1, own_rank = rank;
#ifndef OPEN_MPI
    int told[2];
#endif
    for (int k = 0; k < 2; ++k) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comm[k]);
#ifndef OPEN_MPI
      MPI_Iallreduce(own, sums[k], length, MPI_INT, MPI_SUM, comm[k], &requests[2 * k]);
      told[k] = rank == 0 ? time + k : -1;
      MPI_Ibcast(&told[k], 1, MPI_INT, 0, comm[k], &requests[2 * k + 1]);
#endif
      if (k == 0) {
        MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm[k], &requests[4]);
        MPI_Isend(&own_rank, 1, MPI_INT, to, 3, comm[k], &requests[5]);
      }
      MPI_Comm_free(&comm[k]);
      CHECK(comm[k] == MPI_COMM_NULL);
    }
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    CHECK(got == from); /* nobody else has sent it there */
#ifndef OPEN_MPI
    for (int k = 0; k < 2; ++k) {
      CHECK(told[k] == time + k);
      for (int i = 0; i < length; ++i) CHECK(sums[k][i] == ranks * (ranks - 1) / 2 + ranks * i);
    }
#endif
  }
}

static void errors_returned(void) {
  int own = 1, got[16];
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(error_class(MPI_Allreduce(&own, got, 1, MPI_INT, MPI_OP_NULL, copy)) == MPI_ERR_OP);
  CHECK(error_class(MPI_Bcast(&own, -1, MPI_INT, 0, copy)) == MPI_ERR_COUNT);
  CHECK(error_class(MPI_Bcast(&own, 1, MPI_DATATYPE_NULL, 0, copy)) == MPI_ERR_TYPE);
  CHECK(error_class(MPI_Gather(&own, 1, MPI_INT, got, 1, MPI_INT, -5, copy)) == MPI_ERR_ROOT);
  CHECK(error_class(MPI_Bcast(&own, 1, MPI_INT, ranks, copy)) == MPI_ERR_ROOT);
  CHECK(error_class(MPI_Ibcast(&own, 1, MPI_INT, ranks, copy, &(MPI_Request){MPI_REQUEST_NULL})) == MPI_ERR_ROOT);
  CHECK(error_class(MPI_Reduce(&own, got, 1, MPI_INT, MPI_SUM, -1, copy)) == MPI_ERR_ROOT);
  CHECK(error_class(MPI_Allgather(&own, -1, MPI_INT, got, -1, MPI_INT, copy)) == MPI_ERR_COUNT);
  CHECK(error_class(MPI_Alltoall(&own, 1, MPI_DATATYPE_NULL, got, 1, MPI_DATATYPE_NULL, copy)) == MPI_ERR_TYPE);
  CHECK(error_class(MPI_Barrier(MPI_COMM_NULL)) == MPI_ERR_COMM);
  CHECK(error_class(MPI_Send(&own, 1, MPI_INT, 0, 0, MPI_COMM_NULL)) == MPI_ERR_COMM);
  CHECK(error_class(MPI_Irecv(&own, 1, MPI_INT, 99, 0, copy, &(MPI_Request){MPI_REQUEST_NULL})) == MPI_ERR_RANK);
  CHECK(error_class(MPI_Sendrecv(&own, 1, MPI_INT, 99, 0, got, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE)) ==
        MPI_ERR_RANK);
  CHECK(error_class(MPI_Probe(99, 0, copy, MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
  CHECK(error_class(MPI_Comm_dup(MPI_COMM_NULL, &copy)) == MPI_ERR_COMM);
  CHECK(error_class(MPI_Comm_free(&(MPI_Comm){MPI_COMM_NULL})) == MPI_ERR_COMM);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&copy);
}

/* Rank 0 gives to the others, or takes from them, on one communicator and then on the other, and they do so the other
 * way round: where small data are on their way as soon as they are given that comes to an end. No program should rely
 * on it (MPI 3.1, 5.13), some do. */
static void without_meeting(void) {
  enum { most = 64, kinds = 5 };
  int counts[most], places[most], all[2][most], own[2];
  MPI_Comm comm[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
  MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
  for (int i = 0; i < ranks; ++i) counts[i] = 1, places[i] = ranks - 1 - i;
  for (int time = 0; time < 20 * kinds; ++time) {
    for (int i = 0; i < ranks; ++i) all[0][i] = time + i, all[1][i] = time - i;
    for (int k = 0; k < 2; ++k) own[k] = rank == 0 || time % kinds > 2 ? all[k][rank] : -1;
    for (int turn = 0; turn < 2; ++turn) {
      const int k = rank == 0 ? 1 - turn : turn;
      if (time % kinds == 0) MPI_Bcast(&own[k], 1, MPI_INT, 0, comm[k]);
      if (time % kinds == 1) MPI_Scatter(all[k], 1, MPI_INT, &own[k], 1, MPI_INT, 0, comm[k]);
      if (time % kinds == 2) MPI_Scatterv(all[k], counts, places, MPI_INT, &own[k], 1, MPI_INT, 0, comm[k]);
      if (time % kinds == 3) MPI_Gather(&own[k], 1, MPI_INT, all[k], 1, MPI_INT, 0, comm[k]);
      if (time % kinds == 4) MPI_Gatherv(&own[k], 1, MPI_INT, all[k], counts, places, MPI_INT, 0, comm[k]);
    }
    const int given[kinds] = {0, rank, ranks - 1 - rank, rank, rank};
    CHECK(own[0] == time + given[time % kinds] && own[1] == time - given[time % kinds]);
    for (int i = 0; i < ranks && time % kinds > 2; ++i) {
      const int from = time % kinds == 4 && rank == 0 ? places[i] : i;
      CHECK(all[0][i] == time + from && all[1][i] == time - from);
    }
  }
  MPI_Comm_free(&comm[1]);
}

/* How often this thread has gone to sleep; not what replicas are told alike. */
static long sleeps(void) {
  struct rusage used;
  syscall(SYS_getrusage, RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

/* Where processes outnumber cores, who waits inside a call of MPI gives the core away: under MPICH, which by itself
 * never does, by sleeping. MPI_Comm_create_group is one of those that are entered at once. */
static void core_given_away(void) {
  MPI_Group all;
  MPI_Comm copy;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Barrier(MPI_COMM_WORLD);
  const long before = sleeps();
  if (rank == 0) usleep(300000);
  MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &copy);
  const long slept = sleeps() - before;
  const char* const processes = launcher_says("PMI_SIZE");
  const int crowded = processes && atoi(processes) > sysconf(_SC_NPROCESSORS_ONLN);
  if (rank != 0 && own_replica() == 0 && crowded && dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD)) CHECK(slept > 3);
  MPI_Comm_free(&copy);
  MPI_Group_free(&all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Scenario scenarios[] = {
    {"persistent", persistent},
    {"persistent_in_any_order", persistent_in_any_order},
    {"overtaken", overtaken},
    {"steered", steered},
    {"neighbours", neighbours},
    {"told_in_any_order", told_in_any_order},
    {"grid_edges", grid_edges},
    {"at_bottom", at_bottom},
    {"allreduce_in_place", allreduce_in_place},
    {"allgather_in_place", allgather_in_place},
    {"alltoall_in_place", alltoall_in_place},
    {"alltoallw", alltoallw},
    {"rooted_in_place", rooted_in_place},
    {"neighbour_blocks", neighbour_blocks},
    {"intercommunicators", intercommunicators},
    {"across", across},
    {"operations_freed", operations_freed},
    {"freed_while_pending", freed_while_pending},
    {"errors_returned", errors_returned},
    {"without_meeting", without_meeting},
    {"core_given_away", core_given_away},
#if MPI_VERSION >= 4
    {"large_counts", large_counts},
    {"beyond_int", beyond_int},
#endif
  };
  const int code = run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  MPI_Finalize();
  return code;
}
