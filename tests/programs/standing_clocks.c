/* Clocks and processor times of all kinds before MPI_Init, between it and MPI_Finalize, and after that. What was read
 * before is sent round as it is and as the difference from later readings; what is read afterwards is printed with
 * "print", and written to files with "write". No clock goes back; one that is waited for comes. Prints "standing
 * clocks: PASSED". */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

enum { kinds = 16 };
static const clockid_t clocks[] = {CLOCK_REALTIME,           CLOCK_MONOTONIC,        CLOCK_MONOTONIC_RAW,
                                   CLOCK_BOOTTIME,           CLOCK_REALTIME_COARSE,  CLOCK_MONOTONIC_COARSE,
                                   CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};

/* In nanoseconds, but what times() answers in its ticks. */
static void read_all(long long* told) {
  struct timeval day;
  struct rusage used;
  struct tms ticks;
  memset(told, 0, kinds * sizeof *told);
  for (int i = 0; i < 8; ++i) {
    struct timespec now;
    clock_gettime(clocks[i], &now);
    told[i] = now.tv_sec * 1000000000LL + now.tv_nsec;
  }
  gettimeofday(&day, NULL);
  told[8] = day.tv_sec * 1000000000LL + day.tv_usec * 1000;
  told[9] = time(NULL) * 1000000000LL;
  told[10] = clock();
  told[11] = times(&ticks);
  told[12] = ticks.tms_utime + ticks.tms_stime;
  getrusage(RUSAGE_SELF, &used);
  told[13] = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
  told[14] = used.ru_maxrss;
  getrusage(RUSAGE_CHILDREN, &used);
  told[15] = used.ru_maxrss;
}

/* How many went back. */
static int went_back(const char* when, const long long* before, const long long* after) {
  int wrong = 0;
  for (int i = 0; i < kinds; ++i) {
    /* A coarse clock, and the seconds of time(), may be as old as the last tick. */
    const long long tick = i == 4 || i == 5 ? 20000000 : 0;
    if (after[i] + tick >= before[i]) continue;
    fprintf(stderr, "%s: reading %d was %lld, is %lld\n", when, i, before[i], after[i]);
    ++wrong;
  }
  return wrong;
}

/* As a program finds out how exact a clock is. */
static long long tick_of(clockid_t clock) {
  struct timespec begun, now;
  clock_gettime(clock, &begun);
  do clock_gettime(clock, &now);
  while (now.tv_sec == begun.tv_sec && now.tv_nsec == begun.tv_nsec);
  return (now.tv_sec - begun.tv_sec) * 1000000000LL + now.tv_nsec - begun.tv_nsec;
}

static long long tick_of_clock(void) {
  const clock_t begun = clock();
  clock_t now;
  do now = clock();
  while (now == begun);
  return now - begun;
}

/* Works until it has used so much processor time, by clock(). */
static int works_until(clock_t microseconds) {
  const clock_t end = clock() + microseconds;
  while (clock() < end) {
  }
  return clock() >= end;
}

static int same_round(const long long* told, int count, int rank, int ranks) {
  long long travelling[2 * kinds];
  memcpy(travelling, told, (size_t)count * sizeof *told);
  MPI_Sendrecv_replace(travelling, count, MPI_LONG_LONG, (rank + 1) % ranks, 1, (rank + ranks - 1) % ranks, 1,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return travelling[0] != 0;
}

static void tell(FILE* file, int rank, const long long* closing, const long long* last) {
  for (int i = 0; i < kinds; ++i) fprintf(file, "rank %d, reading %d: %lld and %lld\n", rank, i, closing[i], last[i]);
}

int main(int argc, char** argv) {
  long long first[kinds], before[kinds], now[kinds], closing[kinds], last[kinds], passed[kinds], ticks[kinds] = {1};
  read_all(first);
  ticks[1] = tick_of(CLOCK_PROCESS_CPUTIME_ID);
  ticks[2] = tick_of_clock();
  ticks[3] = works_until(2000000); /* mostly longer than a job takes to MPI_Init */
  read_all(before);
  int wrong = went_back("before MPI_Init", first, before) + (ticks[3] != 1), rank, ranks, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  read_all(now);
  wrong += went_back("in MPI_Init", before, now);
  for (int i = 0; i < kinds; ++i) passed[i] = now[i] - first[i];
  wrong += !same_round(first, kinds, rank, ranks) + !same_round(before, kinds, rank, ranks);
  wrong += !same_round(passed, kinds, rank, ranks) + !same_round(ticks, kinds, rank, ranks);
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  read_all(now);
  MPI_Finalize();
  read_all(closing);
  wrong = went_back("in MPI_Finalize", now, closing);
  const struct timespec while_ns = {0, 30000000};
  nanosleep(&while_ns, NULL);
  wrong += !works_until(100000);
  read_all(last);
  wrong += went_back("after MPI_Finalize", closing, last);
  wrong += last[0] - closing[0] < while_ns.tv_nsec || last[1] - closing[1] < while_ns.tv_nsec;
  const char* where = argc > 1 ? argv[1] : "nowhere";
  if (strcmp(where, "print") == 0) tell(stdout, rank, closing, last);
  if (strcmp(where, "write") == 0) {
    char name[64];
    snprintf(name, sizeof name, "times-%d.out", rank);
    FILE* file = fopen(name, "w");
    tell(file, rank, closing, last);
    fclose(file);
  }
  if (rank == 0) printf("standing clocks: %s\n", all + wrong == 0 ? "PASSED" : "FAILED");
  return all + wrong != 0;
}
