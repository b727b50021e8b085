/* Rules of the standard that show only at the edges of a call: what it leaves alone, what both sides of a communicator
 * must know alike, how much may be on its way at once. */
#include "scenarios.h"

/* Both sides of what is made from an intercommunicator understand each other (MPI 3.1, section 6.6). */
static void exchange(MPI_Comm inter) {
  int peer, peers, mine[2] = {rank, 7}, got[2] = {-1, -1};
  MPI_Status status;
  MPI_Comm_rank(inter, &peer);
  MPI_Comm_remote_size(inter, &peers);
  if (peer < peers) {
    MPI_Sendrecv(mine, 2, MPI_INT, peer, 3, got, 2, MPI_INT, peer, 3, inter, &status);
    CHECK(got[0] != rank && got[0] >= 0 && got[1] == 7);
    CHECK(status.MPI_SOURCE == peer && status.MPI_TAG == 3);
  }
}

static void intercommunicators(void) {
  const int side = rank % 2;
  MPI_Comm half, inter, copy, again, split, chosen;
  MPI_Group group;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 5, &inter);
  exchange(inter);
  MPI_Comm_dup(inter, &copy);
  exchange(copy);
  MPI_Comm_dup(copy, &again);
  exchange(again);
  MPI_Comm_split(inter, 4, rank, &split);
  exchange(split);
  MPI_Comm_group(inter, &group);
  MPI_Comm_create(inter, group, &chosen);
  exchange(chosen);
  MPI_Group_free(&group);
  MPI_Comm_free(&chosen);
  MPI_Comm_free(&split);
  MPI_Comm_free(&again);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

/* Calls that return one status leave its error field alone (MPI 3.1, section 3.2.5). */
static MPI_Status marked(void) {
  MPI_Status status;
  memset(&status, 0xab, sizeof status);
  status.MPI_ERROR = MPI_ERR_DIMS;
  return status;
}

#define CHECK_STATUS(status, tag) \
  CHECK((status).MPI_SOURCE == rank && (status).MPI_TAG == (tag) && (status).MPI_ERROR == MPI_ERR_DIMS)

static void error_fields(void) {
  int out = 41, in = 0, flag = 0, which = -1;
  MPI_Request send[6], receive;
  MPI_Message message;
  MPI_Status status;
  for (int i = 0; i < 6; ++i) MPI_Isend(&out, 1, MPI_INT, rank, i, MPI_COMM_WORLD, &send[i]);

  MPI_Probe(rank, 0, MPI_COMM_WORLD, &status); /* MPICH clears the field in probes */
  status = marked();
  MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
  CHECK_STATUS(status, 0);

  for (flag = 0; !flag;) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &status);
  status = marked();
  MPI_Irecv(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &receive);
  for (flag = 0; !flag;) MPI_Request_get_status(receive, &flag, &status);
  CHECK_STATUS(status, 1);
  status = marked();
  MPI_Wait(&receive, &status);
  CHECK_STATUS(status, 1);

  status = marked();
  MPI_Mprobe(rank, 2, MPI_COMM_WORLD, &message, &status);
  CHECK_STATUS(status, 2);
  status = marked();
  MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
  CHECK_STATUS(status, 2);

  for (status = marked(), flag = 0; !flag;) MPI_Improbe(rank, 3, MPI_COMM_WORLD, &flag, &message, &status);
  CHECK_STATUS(status, 3);
  status = marked();
  MPI_Imrecv(&in, 1, MPI_INT, &message, &receive);
  for (flag = 0; !flag;) MPI_Test(&receive, &flag, &status);
  CHECK_STATUS(status, 3);

  status = marked();
  MPI_Irecv(&in, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &receive);
  MPI_Waitany(1, &receive, &which, &status);
  CHECK_STATUS(status, 4);
  status = marked();
  MPI_Irecv(&in, 1, MPI_INT, rank, 5, MPI_COMM_WORLD, &receive);
  for (flag = 0; !flag;) MPI_Testany(1, &receive, &which, &flag, &status);
  CHECK_STATUS(status, 5);
  MPI_Waitall(6, send, MPI_STATUSES_IGNORE);
  CHECK(in == 41);
}

/* A program may read a clock as often as it likes between two calls that communicate. */
static void clock_read_often(void) {
  double last = MPI_Wtime();
  for (int i = 0; i < 1000000; ++i) {
    const double now = MPI_Wtime();
    CHECK(now >= last);
    last = now;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Scenario scenarios[] = {
      {"intercommunicators", intercommunicators},
      {"error_fields", error_fields},
      {"clock_read_often", clock_read_often},
  };
  const int code = run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  MPI_Finalize();
  return code;
}
