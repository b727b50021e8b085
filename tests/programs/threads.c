/* MPI_THREAD_MULTIPLE: threads that communicate at once, each on a communicator of its own, with messages from anybody,
   every way to wait, probes and collectives; threads that share MPI_COMM_WORLD, each with a tag of its own; or, with
   "handed_on", threads that hand on a channel to each other and read MPI's clock when they have given it away. What
   each has received is known in advance. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { thread_count = 4, rounds = 30 };

struct Work {
  int number;
  MPI_Comm comm;
  long sum;   /* of what was received */
  long order; /* which message came when: the replicas' must be alike, whatever it is */
};

static int rank, ranks, hand_on;

static void exchange_with_anybody(struct Work* work, int round) {
  long out[64], in[64];
  MPI_Request requests[128];
  int pending = 0;
  for (int to = 0; to < ranks; ++to) {
    if (to == rank) continue;
    MPI_Irecv(&in[pending], 1, MPI_LONG, MPI_ANY_SOURCE, 5, work->comm, &requests[pending]);
    ++pending;
  }
  int sends = 0;
  for (int to = 0; to < ranks; ++to) {
    if (to == rank) continue;
    out[sends] = 1000L * work->number + 10 * rank + round % 10;
    MPI_Isend(&out[sends], 1, MPI_LONG, to, 5, work->comm, &requests[pending + sends]);
    ++sends;
  }
  for (int left = pending; left > 0;) {
    int index = 0, flag = 0;
    MPI_Status status;
    if (round % 2)
      MPI_Waitany(pending, requests, &index, &status);
    else
      MPI_Testany(pending, requests, &index, &flag, &status);
    if (round % 2 || flag) {
      --left;
      work->sum += in[index];
      work->order = (long)((unsigned long)work->order * 31 + (unsigned long)status.MPI_SOURCE);
    }
  }
  MPI_Waitall(sends, requests + pending, MPI_STATUSES_IGNORE);
}

static void probe_and_reduce(struct Work* work, int round) {
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  long out = 7L * work->number + rank + round, in = 0, all = 0;
  MPI_Request request;
  MPI_Isend(&out, 1, MPI_LONG, to, 6, work->comm, &request);
  int found = 0;
  MPI_Status status;
  while (!found) MPI_Iprobe(from, 6, work->comm, &found, &status);
  MPI_Recv(&in, 1, MPI_LONG, from, 6, work->comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Allreduce(&in, &all, 1, MPI_LONG, MPI_SUM, work->comm);
  work->sum += all;
}

static void on_the_world(struct Work* work, int round) {
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  long out = 3L * work->number + rank + round, in = 0;
  int done = 0;
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_LONG, from, 100 + work->number, MPI_COMM_WORLD, &request);
  MPI_Send(&out, 1, MPI_LONG, to, 100 + work->number, MPI_COMM_WORLD);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  work->sum += in;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t handed_on = PTHREAD_COND_INITIALIZER;
static int whose = 0;

/* The clock's answer belongs to this thread, whatever those do meanwhile that were on the channel before or after it:
   it is sent, so that replicas that were told different times are found out. */
static void in_turn_on_one_channel(struct Work* work, int round) {
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  pthread_mutex_lock(&mutex);
  while (whose != work->number) pthread_cond_wait(&handed_on, &mutex);
  pthread_mutex_unlock(&mutex);
  long number = 5L * work->number + rank + round;
  MPI_Sendrecv_replace(&number, 1, MPI_LONG, to, 99, from, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pthread_mutex_lock(&mutex);
  whose = (whose + 1) % thread_count;
  pthread_cond_broadcast(&handed_on);
  pthread_mutex_unlock(&mutex);
  double now = MPI_Wtime();
  MPI_Sendrecv_replace(&now, 1, MPI_DOUBLE, to, 7, from, 7, work->comm, MPI_STATUS_IGNORE);
  work->sum += number + (now >= 0 ? 0 : 1);
}

/* A thread's first call is a look: every other one has a message to find, and must not get the others' answers. */
static void begin_by_looking(struct Work* work) {
  MPI_Request request = MPI_REQUEST_NULL;
  int found = 0;
  for (int look = 0; work->number % 2 ? !found : look < 50; ++look)
    MPI_Iprobe(rank, 9, work->comm, &found, MPI_STATUS_IGNORE);
  if (found != work->number % 2) work->sum = -1;
  if (found) MPI_Irecv(NULL, 0, MPI_LONG, rank, 9, work->comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void* run(void* argument) {
  struct Work* work = argument;
  if (hand_on) MPI_Barrier(work->comm); /* by its calls a thread is known */
  if (!hand_on) begin_by_looking(work);
  for (int round = 0; round < rounds; ++round) {
    if (hand_on) {
      in_turn_on_one_channel(work, round);
      continue;
    }
    exchange_with_anybody(work, round);
    probe_and_reduce(work, round);
    on_the_world(work, round);
  }
  return NULL;
}

static long expected(int number) {
  long sum = 0;
  const int from = (rank + ranks - 1) % ranks;
  for (int round = 0; round < rounds; ++round) {
    if (hand_on) {
      sum += 5L * number + from + round;
      continue;
    }
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank) sum += 1000L * number + 10 * peer + round % 10;
    for (int peer = 0; peer < ranks; ++peer) sum += 7L * number + peer + round;
    sum += 3L * number + from + round;
  }
  return sum;
}

int main(int argc, char** argv) {
  int provided = 0;
  hand_on = argc > 1 && strcmp(argv[1], "handed_on") == 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (provided != MPI_THREAD_MULTIPLE) {
    if (rank == 0) printf("threads: MPI provides %d\n", provided);
    MPI_Finalize();
    return 1;
  }
  struct Work work[thread_count];
  pthread_t threads[thread_count];
  for (int i = 0; i < thread_count; ++i) {
    work[i] = (struct Work){.number = i};
    MPI_Comm_dup(MPI_COMM_WORLD, &work[i].comm);
    if (!hand_on && i % 2) MPI_Send(NULL, 0, MPI_LONG, rank, 9, work[i].comm); /* to be found by a look */
  }
  for (int i = 0; i < thread_count; ++i) pthread_create(&threads[i], NULL, run, &work[i]);
  for (int i = 0; i < thread_count; ++i) pthread_join(threads[i], NULL);
  int wrong = 0, wrong_anywhere = 0;
  long orders[thread_count];
  for (int i = 0; i < thread_count; ++i) {
    wrong += work[i].sum != expected(i);
    orders[i] = work[i].order;
    MPI_Comm_free(&work[i].comm);
  }
  /* The orders are sent, so that replicas that disagree about them are found out. */
  long sum_of_orders = 0;
  for (int i = 0; i < thread_count; ++i) {
    long all = 0;
    MPI_Allreduce(&orders[i], &all, 1, MPI_LONG, MPI_BXOR, MPI_COMM_WORLD);
    sum_of_orders ^= all;
  }
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("threads: %d threads, %d wrong\n", thread_count, wrong_anywhere);
  MPI_Finalize();
  return wrong_anywhere != 0 || sum_of_orders == 1;
}
