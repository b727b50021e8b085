/* Rules of the standard that show only at the edges of a call: what it leaves alone, what both sides of a communicator
 * must know alike, how much may be on its way at once. */
#define _POSIX_C_SOURCE 200809L
#include <time.h>

#include "replica.h"
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

/* Wildcard receives that match nothing are cancelled before and after their communicator is freed, and one that matches
 * goes on beside them (MPI 3.1, sections 3.8.4 and 6.4.3). Attributes are deleted by then. */
static int deletions;
static int count_deletion(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  ++deletions;
  return MPI_SUCCESS;
}

static void cancelled_when_freed(void) {
  int keyval, freed_keyval, got[3] = {-1, -1, -1}, out = 40 + rank, gone, before = deletions;
  const int peer = (rank + 1) % ranks;
  MPI_Request receives[3], send;
  MPI_Status status;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &keyval, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &freed_keyval, NULL);
  MPI_Comm_set_attr(comm, keyval, &out);
  MPI_Comm_set_attr(comm, freed_keyval, &out);
  MPI_Comm_free_keyval(&freed_keyval);
  MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &receives[0]);
  MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, &receives[1]);
  MPI_Irecv(&got[2], 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, &receives[2]);
  MPI_Isend(&out, 1, MPI_INT, peer, 6, comm, &send);
  MPI_Cancel(&receives[0]);
  MPI_Comm_free(&comm);
  CHECK(comm == MPI_COMM_NULL);
  MPI_Cancel(&receives[2]);
  for (int i = 0; i < 3; i += 2) {
    MPI_Wait(&receives[i], &status);
    MPI_Test_cancelled(&status, &gone);
    CHECK(gone && got[i] == -1);
  }
  MPI_Wait(&receives[1], &status);
  CHECK(got[1] == 40 + status.MPI_SOURCE && status.MPI_SOURCE == (rank + ranks - 1) % ranks);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  CHECK(deletions > before);
  MPI_Comm_free_keyval(&keyval);
}

/* Persistent requests keep their communicator. */
static void started_when_freed(void) {
  int out = 70 + rank, got = -1;
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  MPI_Request requests[2];
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Recv_init(&got, 1, MPI_INT, left, 2, comm, &requests[0]);
  MPI_Send_init(&out, 1, MPI_INT, right, 2, comm, &requests[1]);
  MPI_Comm_free(&comm);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(got == 70 + left);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
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
  /* Those that return several say of each that it ended well. */
  MPI_Status each[6];
  for (int i = 0; i < 6; ++i) each[i] = marked();
  MPI_Waitall(6, send, each);
  for (int i = 0; i < 6; ++i) CHECK(each[i].MPI_ERROR == MPI_SUCCESS);
  CHECK(in == 41);
}

/* A program may read a clock as often as it likes between two calls that communicate. Replicas other than the first
 * are late, so that its answers queue up. */
static void clock_read_often(void) {
  const struct timespec late = {0, 300000000};
  if (native_rank() >= ranks) nanosleep(&late, NULL);
  double last = MPI_Wtime();
  for (int i = 0; i < 40000; ++i) {
    const double now = MPI_Wtime();
    CHECK(now >= last);
    last = now;
  }
}

/* How many processes there are (MPI 3.1, section 10.5.3; ompi_np is Open MPI's own). */
static void environment(void) {
  const char* const keys[] = {"maxprocs", "soft", "ompi_np"};
  for (int i = 0; i < 3; ++i) {
    char value[64];
    int found = 0;
    MPI_Info_get(MPI_INFO_ENV, keys[i], sizeof value - 1, value, &found);
    CHECK(!found || atoi(value) == ranks);
  }
}

/* MPI_Comm_idup does not wait for the others: the last rank to enter it does so after messages from those that have
 * (MPI 3.1, sections 6.4.2 and 5.12). */
static void started_copies(void) {
  MPI_Comm copy = MPI_COMM_NULL, again = MPI_COMM_NULL;
  MPI_Request requests[2];
  int mine = rank, token = rank, sum = -1;
  if (rank == 0) {
    for (int i = 1; i < ranks; ++i) MPI_Recv(&token, 1, MPI_INT, i, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &requests[0]);
  MPI_Comm_idup(MPI_COMM_WORLD, &again, &requests[1]);
  if (rank != 0) MPI_Ssend(&token, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy);
  CHECK(sum == ranks * (ranks - 1) / 2);
  MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % ranks, 2, &token, 1, MPI_INT, (rank + ranks - 1) % ranks, 2, again,
               MPI_STATUS_IGNORE);
  CHECK(token == (rank + ranks - 1) % ranks);
  MPI_Comm_free(&again);
  MPI_Comm_free(&copy);
}

/* Copies that are being made while the communicator is used in other collective calls (MPI 3.1, section 5.12). */
static void copies_beside_collectives(void) {
  enum { copies = 5 };
  MPI_Comm copy[copies], made;
  MPI_Request requests[copies];
  for (int round = 0; round < 4; ++round) {
    int sum = -1;
    for (int i = 0; i < copies; ++i) MPI_Comm_idup(MPI_COMM_WORLD, &copy[i], &requests[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
    CHECK(sum == ranks * (ranks - 1) / 2);
    MPI_Comm_free(&made);
    for (int i = 0; i < copies; ++i) {
      MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      CHECK(sum == i * ranks);
    }
    MPI_Waitall(copies, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < copies; ++i) {
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_MAX, copy[i]);
      CHECK(sum == ranks - 1);
      MPI_Comm_free(&copy[i]);
    }
  }
}

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5) /* which has these, and calls itself 3.1 */
/* Sessions beside MPI_Init (MPI 4.0, sections 11.3 and 7.4.2). */
static void sessions(void) {
  MPI_Session session;
  MPI_Group all, self, first, rest;
  MPI_Comm made, inter;
  MPI_Info about;
  char size[16] = "";
  int flag = 0, sum = -1, members = -1, mine = rank, got = -1, sets = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
  CHECK(sets >= 2);
  MPI_Session_get_pset_info(session, "mpi://WORLD", &about);
  MPI_Info_get(about, "mpi_size", sizeof size - 1, size, &flag);
  CHECK(flag && atoi(size) == ranks);
  MPI_Info_free(&about);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_from_session_pset(session, "mpi://SELF", &self);
  MPI_Group_size(all, &members);
  CHECK(members == ranks);
  MPI_Group_size(self, &members);
  CHECK(members == 1);
  for (int round = 0; round < 2; ++round) {
    MPI_Comm_create_from_group(all, "org.example.all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, made);
    CHECK(sum == ranks * (ranks - 1) / 2);
    MPI_Comm_free(&made);
  }
  MPI_Comm_create_from_group(self, "org.example.self", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
  MPI_Sendrecv(&mine, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, made, MPI_STATUS_IGNORE);
  CHECK(got == rank);
  MPI_Comm_free(&made);
  const int zero[] = {0};
  MPI_Group_incl(all, 1, zero, &first);
  MPI_Group_excl(all, 1, zero, &rest);
  if (rank == 0) {
    MPI_Intercomm_create_from_groups(first, 0, rest, 0, "org.example.sides", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
  } else {
    MPI_Intercomm_create_from_groups(rest, 0, first, 0, "org.example.sides", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
  }
  if (rank < 2) {
    MPI_Sendrecv(&mine, 1, MPI_INT, 0, 4, &got, 1, MPI_INT, 0, 4, inter, MPI_STATUS_IGNORE);
    CHECK(got == 1 - rank);
  }
  MPI_Comm_free(&inter);
  MPI_Group_free(&first);
  MPI_Group_free(&rest);
  MPI_Group_free(&all);
  MPI_Group_free(&self);
  MPI_Session_finalize(&session);
}
#endif

#if MPI_VERSION >= 4 /* those of Open MPI 5.0 wait for ever, without replication too */
/* Partitioned communication (MPI 4.0, chapter 4): parts in any order, other parts at the receiver, two channels of one
 * name that are started in another order than they were made, beside a wildcard receive that may take none of it. */
enum { whole = 24 };

static void partitions(void) {
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  int out[2][whole], in[2][whole], token, other = -1, flag = 0;
  MPI_Request send[2], receive[2], any;
  MPI_Status status;
  for (int k = 0; k < 2; ++k) {
    MPI_Psend_init(out[k], 6, whole / 6, MPI_INT, to, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &send[k]);
    MPI_Precv_init(in[k], 4, whole / 4, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &receive[k]);
  }
  MPI_Waitall(2, receive, MPI_STATUSES_IGNORE); /* nothing is started yet */
  for (int round = 0; round < 3; ++round) {
    MPI_Irecv(&other, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
    MPI_Start(&receive[1]);
    MPI_Start(&receive[0]);
    MPI_Startall(2, send);
    for (int k = 0; k < 2; ++k) {
      MPI_Test(&send[k], &flag, &status);
      CHECK(!flag);
      for (int i = 0; i < whole; ++i) out[k][i] = 1000 * rank + 100 * k + 10 * round + i;
      int parts[] = {5, 0};
      MPI_Pready(3, send[k]);
      MPI_Pready_list(2, parts, send[k]);
      MPI_Pready_range(1, 2, send[k]);
      MPI_Pready(4, send[k]);
    }
    token = round;
    MPI_Send(&token, 1, MPI_INT, to, 9, MPI_COMM_WORLD);
    for (flag = 0; !flag;) MPI_Parrived(receive[0], 3, &flag);
    for (int i = 0; i < whole; ++i) CHECK(in[0][i] == 1000 * from + 10 * round + i);
    MPI_Wait(&receive[0], &status);
    CHECK(status.MPI_SOURCE == from && status.MPI_TAG == 9);
    MPI_Wait(&receive[1], MPI_STATUS_IGNORE);
    for (int i = 0; i < whole; ++i) CHECK(in[1][i] == 1000 * from + 100 + 10 * round + i);
    MPI_Waitall(2, send, MPI_STATUSES_IGNORE);
    MPI_Wait(&any, &status);
    CHECK(other == round && status.MPI_TAG == 9);
  }
  for (int k = 0; k < 2; ++k) {
    MPI_Request_free(&send[k]);
    MPI_Request_free(&receive[k]);
  }
}
#endif

/* A handler is the communicator's own. One that nobody ever set is MPI_ERRORS_ARE_FATAL; of MPICH it follows the
 * world's. */
static int handled;
static void count_error(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static int is_refused(MPI_Comm comm) {
  int class = MPI_SUCCESS;
  const int word = rank; /* a flip strikes what is sent, which is not what the program steers by */
  MPI_Error_class(MPI_Send(&word, 1, MPI_INT, 10000, 0, comm), &class);
  return class == MPI_ERR_RANK;
}

static void error_handlers(void) {
  MPI_Comm early, own, late;
  MPI_Errhandler counting, got;
  MPI_Comm_create_errhandler(count_error, &counting);
  MPI_Comm_dup(MPI_COMM_WORLD, &early);
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  MPI_Comm_get_errhandler(early, &got);
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  handled = 0;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
  MPI_Comm_dup(MPI_COMM_WORLD, &late);
  CHECK(is_refused(MPI_COMM_WORLD) && handled == 1);
  CHECK(is_refused(late) && handled == 2);
  CHECK(is_refused(own) && handled == 2);
#ifdef MPICH
  CHECK(is_refused(early) && handled == 3);
  CHECK(is_refused(MPI_COMM_SELF) && handled == 4);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(is_refused(early) && handled == 4);
  CHECK(is_refused(late) && handled == 5);
#endif
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&counting);
  MPI_Comm_free(&early);
  MPI_Comm_free(&own);
  MPI_Comm_free(&late);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Scenario scenarios[] = {
    {"intercommunicators", intercommunicators},
    {"cancelled_when_freed", cancelled_when_freed},
    {"started_when_freed", started_when_freed},
    {"error_fields", error_fields},
    {"clock_read_often", clock_read_often},
    {"environment", environment},
    {"started_copies", started_copies},
    {"copies_beside_collectives", copies_beside_collectives},
    {"error_handlers", error_handlers},
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5) /* which has these, and calls itself 3.1 */
    {"sessions", sessions},
#endif
#if MPI_VERSION >= 4
    {"partitions", partitions},
#endif
  };
  const int code = run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  MPI_Finalize();
  return code;
}
