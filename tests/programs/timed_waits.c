/* Waits until a moment that is reckoned from a clock, before MPI_Init and after it, which nobody ends earlier: by the
 * system's own monotonic clock, which no library stands before, each must take what the program asked for, and by the
 * program's clock the moment must have come when it is over. Prints "timed waits: PASSED". */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const long long wait_ns = 60 * 1000000LL, second_ns = 1000000000LL;

static long long in_ns(struct timespec time) {
  return time.tv_sec * second_ns + time.tv_nsec;
}

static long long shown_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return in_ns(now);
}

static long long real_ns(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return in_ns(now);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t by_time_of_day = PTHREAD_COND_INITIALIZER, by_monotonic;
static sem_t semaphore;

/* Calls an error what ends otherwise than by the clock. */
static int wait_in(int way, clockid_t clock, const struct timespec* until) {
  int code;
  switch (way) {
    case 0:
      return clock_nanosleep(clock, TIMER_ABSTIME, until, NULL) != 0;
    case 1:
      return sem_clockwait(&semaphore, clock, until) != -1 || errno != ETIMEDOUT;
    case 2:
      return clock == CLOCK_REALTIME && (sem_timedwait(&semaphore, until) != -1 || errno != ETIMEDOUT);
    default:
      pthread_mutex_lock(&mutex);
      code = way == 3
                 ? pthread_cond_clockwait(&by_time_of_day, &mutex, clock, until)
                 : pthread_cond_timedwait(clock == CLOCK_REALTIME ? &by_time_of_day : &by_monotonic, &mutex, until);
      pthread_mutex_unlock(&mutex);
      return code != ETIMEDOUT;
  }
}

static int wrong_waits(const char* when) {
  static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC};
  int wrong = 0;
  for (int way = 0; way < 5; ++way) {
    for (int c = 0; c < 2; ++c) {
      if (way == 2 && clocks[c] != CLOCK_REALTIME) continue; /* sem_timedwait has the one clock */
      const long long began = real_ns(), deadline = shown_ns(clocks[c]) + wait_ns;
      const struct timespec until = {deadline / second_ns, deadline % second_ns};
      const int failed = wait_in(way, clocks[c], &until);
      const long long took = real_ns() - began, left = deadline - shown_ns(clocks[c]);
      if (!failed && took >= wait_ns && left <= 0) continue;
      fprintf(stderr, "%s MPI_Init, way %d, clock %d: failed %d, took %lld ns, left %lld ns\n", when, way,
              (int)clocks[c], failed, took, left);
      ++wrong;
    }
  }
  return wrong;
}

int main(int argc, char** argv) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&by_monotonic, &monotonic);
  sem_init(&semaphore, 0, 0);
  int wrong = wrong_waits("before"), all = 0, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  wrong += wrong_waits("after");
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("timed waits: %s\n", all == 0 ? "PASSED" : "FAILED");
  MPI_Finalize();
  return all != 0;
}
