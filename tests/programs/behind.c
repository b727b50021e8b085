/* Replicas that are late, and their leader: one that polls with a sleep after each look, and one whose first thread has
 * gone to sleep until another thread, which alone communicates, wakes it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "replica.h"
#include "scenarios.h"

static const long long millisecond_ns = 1000000;
static int late; /* whether this process is no leader's */

/* By the kernel itself: what Holdfast answers is not asked. */
static long long real_ns(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 * millisecond_ns + now.tv_nsec;
}

static void compute(long long nanoseconds) {
  const long long end = real_ns() + nanoseconds;
  while (real_ns() < end) continue;
}

/* Sleeps for 2 ms, in the ways in which a program can; whether it was shorter. */
static int sleep_shortly(int way) {
  const struct timespec while_ns = {0, 2 * millisecond_ns};
  const long long began = real_ns();
  if (way % 3 == 0) CHECK(nanosleep(&while_ns, NULL) == 0);
  if (way % 3 == 1) CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &while_ns, NULL) == 0);
  if (way % 3 == 2) CHECK(usleep(2000) == 0);
  return real_ns() - began < 2 * millisecond_ns;
}

/* Rank 0 looks for a message, and sleeps after each look that finds none, some hundred times. Its other replicas begin
 * to look when their leader has looked for long: what it found then they need not sleep for, and the leader must. */
static void polls(void) {
  long long sent = 0;
  if (rank == 1) {
    compute(600 * millisecond_ns);
    MPI_Send(&sent, 1, MPI_LONG_LONG, 0, 3, MPI_COMM_WORLD);
  }
  if (rank != 0) return;
  if (late) compute(300 * millisecond_ns);
  int found = 0, shorter = 0, looks = 0;
  for (; !found; ++looks) {
    MPI_Iprobe(1, 3, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    if (!found) shorter += sleep_shortly(looks);
  }
  MPI_Recv(&sent, 1, MPI_LONG_LONG, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(looks > 1);
  CHECK(late ? shorter > 0 : shorter == 0);
}

enum { trips = 10 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t begin, ended;

/* To rank 1, whose replicas compare what they receive, and back. */
static void there_and_back(int trip) {
  int number = trip;
  if (rank == 1) MPI_Recv(&number, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(number == trip);
  MPI_Send(&number, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&number, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The same one way, and a call in which MPI itself waits for the other rank. */
static void there_and_apart(int trip) {
  MPI_Comm apart;
  int number = trip;
  MPI_Comm_dup(MPI_COMM_WORLD, &apart);
  if (rank == 0) MPI_Send(&number, 1, MPI_INT, 1, 4, apart);
  if (rank == 1) MPI_Recv(&number, 1, MPI_INT, 0, 4, apart, MPI_STATUS_IGNORE);
  CHECK(number == trip);
  MPI_Comm_disconnect(&apart);
}

/* Each trip needs the lock. */
static void* communicate(void* trip_of) {
  void (*const travel)(int) = *(void (**)(int))trip_of;
  for (int trip = 0; trip < trips; ++trip) {
    sem_wait(&begin);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    travel(trip);
    sem_post(&ended);
  }
  return NULL;
}

/* As an interpreter does that has a lock: the first thread of a replica reads the clock with the lock in its hands,
 * where its leader did not have to wait for the lock, and sleeps already until the other thread has communicated. */
static void read_under_a_lock(void (*travel)(int)) {
  if (rank == 0) {
    pthread_t thread;
    sem_init(&begin, 0, 0);
    sem_init(&ended, 0, 0);
    pthread_create(&thread, NULL, communicate, &travel);
    for (int trip = 0; trip < trips; ++trip) {
      pthread_mutex_lock(&mutex);
      sem_post(&begin);
      if (late) {
        struct timespec now;
        CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0 && now.tv_sec > 0);
      }
      pthread_mutex_unlock(&mutex);
      sem_wait(&ended);
    }
    pthread_join(thread, NULL);
  }
  for (int trip = 0; rank == 1 && trip < trips; ++trip) travel(trip);
  double now = MPI_Wtime(); /* agreed, as before */
  MPI_Bcast(&now, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void under_a_lock(void) {
  read_under_a_lock(there_and_back);
}

static void in_a_disconnect(void) {
  read_under_a_lock(there_and_apart);
}

static const struct Scenario scenarios[] = {
    {"polls", polls}, {"under_a_lock", under_a_lock}, {"in_a_disconnect", in_a_disconnect}};

int main(int argc, char** argv) {
  int provided;
  late = own_replica() > 0; /* after MPI_Init all hear the same of the launcher */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int code =
      provided == MPI_THREAD_MULTIPLE ? run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios) : 1;
  MPI_Finalize();
  return code;
}
