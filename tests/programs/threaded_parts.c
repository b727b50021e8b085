/* Partitioned communication (MPI 4.0, chapter 4) by several threads: each fills and readies parts of one message, and
   looks for parts of another until they are there. Which thread is the last to ready one, and who finds it there first,
   differs from replica to replica. What is received is known in advance. MPI of before 4.0 has none, and nothing is
   done. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#if MPI_VERSION >= 4 /* those of Open MPI 5.0 wait for ever, without replication too */
enum { thread_count = 3, rounds = 10, parts_each = 2, parts = thread_count * parts_each, length = 4 };

static int rank, ranks;
static int out[parts * length], in[parts * length];
static MPI_Request send, receive;
static pthread_barrier_t all;

struct Work {
  int number;
  long wrong;
};

static int value(int of, int round, int i) {
  return 10000 * of + 100 * round + i;
}

static void fill(int part, int round) {
  for (int i = part * length; i < (part + 1) * length; ++i) out[i] = value(rank, round, i);
  MPI_Pready(part, send);
}

static long check(int part, int round) {
  const int from = (rank + ranks - 1) % ranks;
  long wrong = 0;
  for (int i = part * length; i < (part + 1) * length; ++i) wrong += in[i] != value(from, round, i);
  return wrong;
}

static void* run(void* argument) {
  struct Work* work = argument;
  const int first = work->number * parts_each;
  for (int round = 0; round < rounds; ++round) {
    pthread_barrier_wait(&all); /* started */
    for (int i = 0; i < parts_each; ++i) fill(first + i, round);
    int there[parts_each] = {0}, missing = parts_each;
    while (missing > 0) {
      for (int i = 0; i < parts_each; ++i) {
        int flag = 0;
        MPI_Parrived(receive, first + i, &flag);
        if (!flag || there[i]) continue;
        there[i] = 1;
        --missing;
        work->wrong += check(first + i, round);
      }
    }
    pthread_barrier_wait(&all);
  }
  return NULL;
}

static long exchange(void) {
  struct Work work[thread_count];
  pthread_t threads[thread_count];
  long wrong = 0;
  pthread_barrier_init(&all, NULL, thread_count + 1);
  MPI_Psend_init(out, parts, length, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(in, parts, length, MPI_INT, (rank + ranks - 1) % ranks, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  for (int i = 0; i < thread_count; ++i) {
    work[i] = (struct Work){.number = i};
    pthread_create(&threads[i], NULL, run, &work[i]);
  }
  for (int round = 0; round < rounds; ++round) {
    MPI_Start(&receive);
    MPI_Start(&send);
    pthread_barrier_wait(&all);
    pthread_barrier_wait(&all);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < thread_count; ++i) {
    pthread_join(threads[i], NULL);
    wrong += work[i].wrong;
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
  pthread_barrier_destroy(&all);
  return wrong;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long wrong = provided != MPI_THREAD_MULTIPLE || exchange(), wrong_anywhere = 0;
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("parts: %ld wrong\n", wrong_anywhere);
  MPI_Finalize();
  return wrong_anywhere != 0;
}
#else
int main(int argc, char** argv) {
  int sum = 0, one = 1;
  MPI_Init(&argc, &argv);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum == 0;
}
#endif
