/* Sends in every mode and communicators of every kind, between ranks that differ in how many replicas they have. */
#include <mpi.h>

#include "scenarios.h"

enum { length = 3000 };

static int left, right;

/* What rank `from` sends with this number. */
static double value(int from, int number, int i) {
  return 1e6 * from + 1e3 * number + i;
}
static void fill(double* data, int number) {
  for (int i = 0; i < length; ++i) data[i] = value(rank, number, i);
}
static int is(const double* data, int from, int number) {
  for (int i = 0; i < length; ++i)
    if (data[i] != value(from, number, i)) return 0;
  return 1;
}

static void modes(void) {
  static double out[length], in[length];
  void* room = malloc(2 * (sizeof out + MPI_BSEND_OVERHEAD));
  MPI_Buffer_attach(room, (int)(2 * (sizeof out + MPI_BSEND_OVERHEAD)));
  for (int mode = 0; mode < 6; ++mode) {
    MPI_Request receive, send = MPI_REQUEST_NULL;
    fill(out, mode);
    MPI_Irecv(in, length, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &receive);
    MPI_Barrier(MPI_COMM_WORLD); /* a ready send needs its receive */
    if (mode == 0) MPI_Isend(out, length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &send);
    if (mode == 1) MPI_Issend(out, length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &send);
    if (mode == 2) MPI_Irsend(out, length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &send);
    if (mode == 3) MPI_Ibsend(out, length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &send);
    if (mode == 4) MPI_Bsend(out, length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD);
    if (mode == 5) MPI_Ssend(out, length, MPI_DOUBLE, right, 1, MPI_COMM_WORLD);
    if (mode == 3 || mode == 4) {
      if (mode == 3) MPI_Wait(&send, MPI_STATUS_IGNORE);
      memset(out, 0, sizeof out); /* the program's again at once */
    }
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    CHECK(is(in, left, mode));
  }
  void* back;
  int size;
  MPI_Buffer_detach(&back, &size);
  free(back);
}

static void replaced(void) {
  static double data[length];
  fill(data, 7);
  MPI_Sendrecv_replace(data, length, MPI_DOUBLE, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(is(data, left, 7));
}

/* Sends that are completed with others, by their number, or not at all. */
static void completions(void) {
  static double out[3][length], in[3][length];
  MPI_Request requests[6];
  for (int i = 0; i < 3; ++i) {
    fill(out[i], 10 + i);
    MPI_Irecv(in[i], length, MPI_DOUBLE, left, 3 + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Isend(out[i], length, MPI_DOUBLE, right, 3 + i, MPI_COMM_WORLD, &requests[3 + i]);
  }
  MPI_Request_free(&requests[5]);
  int index, count, indices[5];
  MPI_Waitany(5, requests, &index, MPI_STATUS_IGNORE);
  CHECK(index >= 0 && index < 5);
  MPI_Waitsome(5, requests, &count, indices, MPI_STATUSES_IGNORE);
  CHECK(count >= 1 && count <= 4);
  for (int all = 0; !all;) MPI_Testall(5, requests, &all, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 3; ++i) CHECK(is(in[i], left, 10 + i));
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Open MPI 4.1 sends other bytes when such a request is started again, without replication too. */
static void persistent_buffered(void) {
  static double out[length], in[length];
  const int bytes = 4 * (int)(sizeof out + MPI_BSEND_OVERHEAD); /* MPI may notice late what has been delivered */
  void* room = malloc((size_t)bytes);
  int size;
  MPI_Request send;
  MPI_Buffer_attach(room, bytes);
#ifdef OPEN_MPI
  const int rounds = 1;
#else
  const int rounds = 4;
#endif
  MPI_Bsend_init(out, length, MPI_DOUBLE, right, 7, MPI_COMM_WORLD, &send);
  for (int round = 0; round < rounds; ++round) {
    fill(out, 30 + round);
    MPI_Start(&send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    memset(out, 0, sizeof out); /* the program's again at once */
    MPI_Recv(in, length, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(is(in, left, 30 + round));
  }
  MPI_Request_free(&send);
  MPI_Buffer_detach(&room, &size);
  free(room);
}

static void persistent(void) {
  static double out[length], in[length];
  MPI_Request requests[3];
  MPI_Send_init(out, length, MPI_DOUBLE, right, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in, length, MPI_DOUBLE, left, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Ssend_init(out, length, MPI_DOUBLE, right, 99, MPI_COMM_WORLD, &requests[2]);
  for (int round = 0; round < 4; ++round) {
    fill(out, 20 + round);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(is(in, left, 20 + round));
  }
  for (int i = 0; i < 3; ++i) MPI_Request_free(&requests[i]);
}

/* A message round the communicator, and sums over it. */
static void use(MPI_Comm comm) {
  int self, size, sum, all;
  MPI_Comm_rank(comm, &self);
  MPI_Comm_size(comm, &size);
  int out = 100 * rank + self, in = -1, from = -1;
  MPI_Sendrecv(&out, 1, MPI_INT, (self + 1) % size, 8, &in, 1, MPI_INT, (self + size - 1) % size, 8, comm,
               MPI_STATUS_IGNORE);
  MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Allreduce(&out, &all, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == all);
  MPI_Request request;
  if (self == 0) from = rank;
  MPI_Ibcast(&from, 1, MPI_INT, 0, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(from >= 0 && (self != 0 || from == rank));
}

static void communicators(void) {
  MPI_Comm copy, half, part, none, several, alone, again;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  use(copy);
  MPI_Comm_split(copy, rank % 2, -rank, &half);
  use(half);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &part);
  CHECK((part == MPI_COMM_NULL) == (rank == 0));
  if (part != MPI_COMM_NULL) use(part);
  MPI_Group world, most;
  const int first[] = {0};
  MPI_Comm_group(copy, &world);
  MPI_Group_excl(world, 1, first, &most);
  MPI_Comm_create(copy, most, &none);
  CHECK((none == MPI_COMM_NULL) == (rank == 0));
  if (none != MPI_COMM_NULL) use(none);
  if (rank != 0) {
    MPI_Comm_create_group(copy, most, 5, &several);
    use(several);
    MPI_Comm_free(&several);
  }
  MPI_Comm_dup(MPI_COMM_SELF, &alone);
  use(alone);
  MPI_Request request;
  MPI_Comm_idup(half, &again, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  use(again);
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  MPI_Group_free(&most);
  MPI_Group_free(&world);
  MPI_Comm_free(&again);
  MPI_Comm_free(&alone);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
}

static void topologies(void) {
  MPI_Comm grid, line, graph;
  int before, after;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (const int[]){1}, 0, &grid);
  use(grid);
  MPI_Cart_shift(grid, 0, 1, &before, &after);
  CHECK(before == left && after == right);
  MPI_Cart_sub(grid, (const int[]){1}, &line);
  use(line);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  use(graph);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&line);
  MPI_Comm_free(&grid);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  left = (rank + ranks - 1) % ranks;
  right = (rank + 1) % ranks;
  static const struct Scenario scenarios[] = {{"modes", modes},
                                              {"replaced", replaced},
                                              {"completions", completions},
                                              {"persistent", persistent},
                                              {"persistent_buffered", persistent_buffered},
                                              {"communicators", communicators},
                                              {"topologies", topologies}};
  const int code = run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  MPI_Finalize();
  return code;
}
