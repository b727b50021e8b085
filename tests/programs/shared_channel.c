/* MPI_THREAD_MULTIPLE: threads that send and receive on one communicator with one tag, in every way in which one of two
   threads may get a message and not the other. Which thread got which is not defined; that each message came once is,
   and all replicas must have given the same ones to the same threads, so that is sent too. Threads are created by
   threads, with POSIX's function and C's. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

#include "replica.h"

enum { branches = 2, thread_count = 2 * branches, rounds = 24, tag = 7 };

struct Work {
  int number;
  long sum;            /* of what was received */
  unsigned long order; /* what came when */
};

static int rank, ranks;

/* Other threads first in each replica, as a loaded machine has them. */
static void be_late(int number, int round) {
  if ((number + round + native_rank()) % 3 == 0) usleep(300);
}

static void note(struct Work* work, long message) {
  work->sum += message;
  work->order = work->order * 31 + (unsigned long)message;
}

static void receive_posted(struct Work* work, int source) {
  long in = 0;
  MPI_Recv(&in, 1, MPI_LONG, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  note(work, in);
}

static void receive_persistent(struct Work* work, int source) {
  long in = 0;
  MPI_Request request;
  MPI_Recv_init(&in, 1, MPI_LONG, source, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  int done = 0;
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  note(work, in);
}

static void receive_matched(struct Work* work, int source, int blocking) {
  long in = 0;
  int found = 0;
  MPI_Message message;
  MPI_Request request;
  if (blocking) {
    MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in, 1, MPI_LONG, &message, MPI_STATUS_IGNORE);
  } else {
    while (!found) MPI_Improbe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(&in, 1, MPI_LONG, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  note(work, in);
}

/* Another thread may receive what this one has seen; then it gets another one from there. */
static void receive_probed(struct Work* work, int source, int blocking) {
  int found = blocking;
  MPI_Status status;
  if (blocking) MPI_Probe(source, tag, MPI_COMM_WORLD, &status);
  while (!found) MPI_Iprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &status);
  receive_posted(work, status.MPI_SOURCE);
}

/* Two at once, in the order in which they come. */
static void receive_any(struct Work* work, int source, int how) {
  long in[2] = {0, 0};
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i)
    MPI_Irecv(&in[i], 1, MPI_LONG, source, i ? MPI_ANY_TAG : tag, MPI_COMM_WORLD, &requests[i]);
  for (int left = 2; left > 0;) {
    int count = 1, indices[2] = {0, 0}, flag = 1;
    if (how == 0) MPI_Waitany(2, requests, &indices[0], MPI_STATUS_IGNORE);
    if (how == 1) MPI_Testany(2, requests, &indices[0], &flag, MPI_STATUS_IGNORE);
    if (how == 2) MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
    for (int i = 0; flag && i < count; ++i, --left) note(work, in[indices[i]]);
  }
}

static long message_of(const struct Work* work, int round, int second) {
  return 1000000L * rank + 10000L * work->number + 2L * round + second;
}

/* Each round sends two messages to each of the ranks that have this one for a source, and receives as many. */
static void exchange(struct Work* work, int round, int anybody) {
  MPI_Request sends[2];
  long out[2];
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  be_late(work->number, round);
  for (int i = 0; i < 2; ++i) {
    out[i] = message_of(work, round, i);
    const int to = anybody ? (rank + 1 + (work->number + i) % (ranks - 1)) % ranks : next;
    MPI_Isend(&out[i], 1, MPI_LONG, to, tag, MPI_COMM_WORLD, &sends[i]);
  }
  const int source = anybody ? MPI_ANY_SOURCE : before;
  const int way = (round + work->number) % (anybody ? 4 : 8);
  if (way < 3) {
    receive_any(work, source, way);
  } else {
    for (int i = 0; i < 2; ++i) {
      if (way == 3) receive_matched(work, source, i);
      if (way == 4) receive_posted(work, source);
      if (way == 5) receive_persistent(work, source);
      if (way > 5) receive_probed(work, source, way - 6);
    }
  }
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
}

static void work_through(struct Work* work) {
  for (int round = 0; round < rounds; ++round) exchange(work, round, 0);
}

static int work_as_child(void* argument) {
  work_through(argument);
  return 0;
}

static void* work_with_child(void* argument) {
  struct Work* work = argument;
  thrd_t child;
  thrd_create(&child, work_as_child, work + branches);
  work_through(work);
  thrd_join(child, NULL);
  return NULL;
}

static void* work_with_anybody(void* argument) {
  for (int round = 0; round < rounds; ++round) exchange(argument, round, 1);
  return NULL;
}

/* Threads that probe before they make any other call. */
static void* listen(void* argument) {
  struct Work* work = argument;
  const int before = (rank + ranks - 1) % ranks;
  if (work->number % 2)
    receive_probed(work, before, 1);
  else
    receive_matched(work, before, 1);
  return NULL;
}

static void run(void* (*how)(void*), struct Work* works, int count) {
  pthread_t threads[thread_count];
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, how, &works[i]);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  struct Work works[thread_count] = {{0, 0, 0}};
  for (int i = 0; i < thread_count; ++i) works[i].number = i;
  run(work_with_child, works, branches);
  run(work_with_anybody, works, thread_count);
  MPI_Request sends[thread_count];
  const long last[thread_count] = {1, 20, 300, 4000};
  for (int i = 0; i < thread_count; ++i)
    MPI_Isend(&last[i], 1, MPI_LONG, (rank + 1) % ranks, tag, MPI_COMM_WORLD, &sends[i]);
  run(listen, works, thread_count);
  MPI_Waitall(thread_count, sends, MPI_STATUSES_IGNORE);
  long sum = 0, all = 0;
  unsigned long orders[thread_count], everybody[thread_count * 16];
  for (int i = 0; i < thread_count; ++i) {
    sum += works[i].sum;
    orders[i] = works[i].order;
  }
  if (ranks > 16) return 1;
  MPI_Allgather(orders, thread_count, MPI_UNSIGNED_LONG, everybody, thread_count, MPI_UNSIGNED_LONG, MPI_COMM_WORLD);
  MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum of all messages %ld\n", all);
  MPI_Finalize();
  return 0;
}
