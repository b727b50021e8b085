/* Waits until a moment that is reckoned from a clock, and waits for a while, before MPI_Init and after it, which nobody
 * ends earlier: by the system's own monotonic clock, which no library stands before, each must take what the program
 * asked for, and by the program's clock the moment must have come when it is over. MPI's tool interface, which begins
 * before MPI_Init, loads libraries that measure the processor's clock by the time of day meanwhile. And waits until a
 * moment in centuries, which another thread ends: they must not be over by the clock. Prints "timed waits: PASSED". */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <threads.h>
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

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t held_lock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t held_mtx, condition_mtx;
static cnd_t condition;

/* Nobody gives back what this thread takes. */
static void* hold(void* unused) {
  pthread_mutex_lock(&held);
  pthread_rwlock_wrlock(&held_lock);
  mtx_lock(&held_mtx);
  return unused;
}

enum { ways = 13 };
static int has_clock(int way) { /* or the time of day alone */
  return way < 2 || way == 3 || way == 4 || way == 6 || way == 9 || way == 10;
}

/* What else than the clock ended a wait by C11's functions, whose mutex is locked meanwhile. */
static int wait_for_condition(const struct timespec* until) {
  mtx_lock(&condition_mtx);
  const int code = cnd_timedwait(&condition, &condition_mtx, until);
  mtx_unlock(&condition_mtx);
  return code != thrd_timedout;
}

/* Calls an error what ends otherwise than by the clock. */
static int wait_in(int way, clockid_t clock, const struct timespec* until) {
  int code;
  switch (way) {
    case 0:
      return clock_nanosleep(clock, TIMER_ABSTIME, until, NULL) != 0;
    case 1:
      return sem_clockwait(&semaphore, clock, until) != -1 || errno != ETIMEDOUT;
    case 2:
      return sem_timedwait(&semaphore, until) != -1 || errno != ETIMEDOUT;
    case 5:
      return pthread_mutex_timedlock(&held, until) != ETIMEDOUT;
    case 6:
      return pthread_mutex_clocklock(&held, clock, until) != ETIMEDOUT;
    case 7:
      return pthread_rwlock_timedrdlock(&held_lock, until) != ETIMEDOUT;
    case 8:
      return pthread_rwlock_timedwrlock(&held_lock, until) != ETIMEDOUT;
    case 9:
      return pthread_rwlock_clockrdlock(&held_lock, clock, until) != ETIMEDOUT;
    case 10:
      return pthread_rwlock_clockwrlock(&held_lock, clock, until) != ETIMEDOUT;
    case 11:
      return mtx_timedlock(&held_mtx, until) != thrd_timedout;
    case 12:
      return wait_for_condition(until);
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
  for (int way = 0; way < ways; ++way) {
    for (int c = 0; c < 1 + has_clock(way); ++c) {
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

/* Waits for wait_ns, but sleep() for a second; how many nanoseconds were asked for, 0 for an error. */
static long long wait_for_a_while(int way) {
  const struct timespec while_ns = {0, wait_ns};
  struct timeval while_us = {0, wait_ns / 1000};
  switch (way) {
    case 0:
      return nanosleep(&while_ns, NULL) == 0 ? wait_ns : 0;
    case 1:
      return clock_nanosleep(CLOCK_MONOTONIC, 0, &while_ns, NULL) == 0 ? wait_ns : 0;
    case 2:
      return thrd_sleep(&while_ns, NULL) == 0 ? wait_ns : 0;
    case 3:
      return usleep(wait_ns / 1000) == 0 ? wait_ns : 0;
    case 4:
      return poll(NULL, 0, wait_ns / 1000000) == 0 ? wait_ns : 0;
    case 5:
      return ppoll(NULL, 0, &while_ns, NULL) == 0 ? wait_ns : 0;
    case 6:
      return select(0, NULL, NULL, NULL, &while_us) == 0 ? wait_ns : 0;
    case 7:
      return pselect(0, NULL, NULL, NULL, &while_ns, NULL) == 0 ? wait_ns : 0;
    default:
      return sleep(1) == 0 ? second_ns : 0;
  }
}

static int wrong_whiles(const char* when) {
  int wrong = 0;
  for (int way = 0; way < 9; ++way) {
    const long long began = real_ns(), time_of_day = shown_ns(CLOCK_REALTIME), monotonic = shown_ns(CLOCK_MONOTONIC);
    const long long asked = wait_for_a_while(way), took = real_ns() - began;
    const long long by_time_of_day = shown_ns(CLOCK_REALTIME) - time_of_day;
    const long long by_monotonic = shown_ns(CLOCK_MONOTONIC) - monotonic;
    if (asked > 0 && took >= asked && by_time_of_day >= asked && by_monotonic >= asked) continue;
    fprintf(stderr, "%s MPI_Init, a while of way %d: asked for %lld ns, took %lld, by the clocks %lld and %lld\n", when,
            way, asked, took, by_time_of_day, by_monotonic);
    ++wrong;
  }
  return wrong;
}

static int woken;

/* Ends the wait of the first thread after wait_ns. */
static void* wake(void* unused) {
  const struct timespec while_ns = {0, wait_ns};
  syscall(SYS_nanosleep, &while_ns, NULL);
  pthread_mutex_lock(&mutex);
  woken = 1;
  pthread_cond_signal(&by_time_of_day);
  pthread_cond_signal(&by_monotonic);
  pthread_mutex_unlock(&mutex);
  sem_post(&semaphore);
  return unused;
}

/* What the wait answers that wake() ends; of the semaphore's, errno. */
static int wait_until_woken(int way, const struct timespec* until) {
  int code = 0;
  if (way == 0) return sem_timedwait(&semaphore, until) == 0 ? 0 : errno;
  if (way == 1) return sem_clockwait(&semaphore, CLOCK_MONOTONIC, until) == 0 ? 0 : errno;
  pthread_mutex_lock(&mutex);
  while (!woken && code == 0) {
    if (way == 2) code = pthread_cond_timedwait(&by_time_of_day, &mutex, until);
    if (way == 3) code = pthread_cond_timedwait(&by_monotonic, &mutex, until);
    if (way == 4) code = pthread_cond_clockwait(&by_monotonic, &mutex, CLOCK_MONOTONIC, until);
  }
  pthread_mutex_unlock(&mutex);
  return code;
}

static int wrong_far_waits(const char* when) {
  /* In nanoseconds of 64 bits without a check, the first is two seconds after a clock's beginning. */
  static const time_t far[] = {18446744074, LLONG_MAX / 1000000000, LONG_MAX};
  int wrong = 0;
  for (int way = 0; way < 5; ++way) {
    for (unsigned i = 0; i < sizeof far / sizeof *far; ++i) {
      const struct timespec until = {far[i], second_ns - 1};
      pthread_t waker;
      woken = 0;
      if (pthread_create(&waker, NULL, wake, NULL) != 0) return 1;
      const int code = wait_until_woken(way, &until);
      pthread_join(waker, NULL);
      while (sem_trywait(&semaphore) == 0) continue;
      if (code == 0) continue;
      fprintf(stderr, "%s MPI_Init, a far wait of way %d until %lld s: %s\n", when, way, (long long)far[i],
              code == ETIMEDOUT ? "timed out" : "an error");
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
  mtx_init(&held_mtx, mtx_timed);
  mtx_init(&condition_mtx, mtx_timed);
  cnd_init(&condition);
  pthread_t holder;
  if (pthread_create(&holder, NULL, hold, NULL) != 0 || pthread_join(holder, NULL) != 0) return 1;
  int wrong = wrong_waits("before") + wrong_whiles("before") + wrong_far_waits("before"), all = 0, rank, provided;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  wrong += wrong_waits("after") + wrong_whiles("after") + wrong_far_waits("after");
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("timed waits: %s\n", all == 0 ? "PASSED" : "FAILED");
  MPI_T_finalize();
  MPI_Finalize();
  return all != 0;
}
