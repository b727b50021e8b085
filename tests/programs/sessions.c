/* Sessions without MPI_Init (MPI 4.0, 11.3), which Open MPI 4.1 does not have.

   usage: sessions [threads|then-init]
     threads    with MPI_THREAD_MULTIPLE
     then-init  calls MPI_Init while a session is open, and MPI_Finalize in the end */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5) /* which has these, and calls itself 3.1 */
static int wrong;

static void check(int so, int line) {
  if (so) return;
  ++wrong;
  fprintf(stderr, "sessions.c:%d: not so\n", line);
}
#define CHECK(condition) check((condition) != 0, __LINE__)

static MPI_Session open_session(int threads) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Info info = MPI_INFO_NULL;
  if (threads) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  }
  CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  if (threads) MPI_Info_free(&info);
  return session;
}

static MPI_Comm everybody(MPI_Session session, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
  CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
  MPI_Group_free(&group);
  return comm;
}

static int pass_round(MPI_Comm comm) {
  int rank, ranks, got = -1, sum = -1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int word = rank; /* a flip strikes what is sent, which is not what the program steers by */
  MPI_Sendrecv(&word, 1, MPI_INT, (rank + 1) % ranks, 3, &got, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE);
  CHECK(got == (rank + ranks - 1) % ranks);
  MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == ranks * (ranks - 1) / 2);
  return rank;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 && strcmp(argv[1], "threads") == 0,
            then_init = argc > 1 && strcmp(argv[1], "then-init") == 0;
  int flag = 1, rank;
  const MPI_Session first = open_session(threads);
  CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && !flag);
  MPI_Comm one = everybody(first, "org.example.first");
  rank = pass_round(one);
  MPI_Session second = open_session(threads);
  MPI_Comm two = everybody(second, "org.example.second");
  pass_round(two);
  MPI_Comm_free(&two);
  CHECK(MPI_Session_finalize(&second) == MPI_SUCCESS);
  pass_round(one);
  if (then_init) {
    CHECK(MPI_Init(&argc, &argv) == MPI_SUCCESS);
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && flag);
    pass_round(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&one);
  MPI_Session last = first;
  CHECK(MPI_Session_finalize(&last) == MPI_SUCCESS);
  if (then_init) {
    pass_round(MPI_COMM_WORLD);
    MPI_Finalize();
  } else {
    CHECK(MPI_Finalized(&flag) == MPI_SUCCESS && !flag);
  }
  if (rank == 0) printf("sessions: %s\n", wrong ? "WRONG" : "right");
  return wrong != 0;
}
#else
int main(void) {
  return 0;
}
#endif
