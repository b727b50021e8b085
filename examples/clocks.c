/* Values that steer a program and come from clocks: a seed read before MPI_Init, a deadline waited for, processor
 * times, what has passed since the program, or a library of it (tests/programs/loaded_moment.cc), was loaded. Each rank
 * sends what it read round the ring and gets it back; under replication every copy must be the same. Prints "clocks:
 * PASSED" when what comes back is what was sent. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

struct readings {
  double running, loaded;
  long long seed, day_us, day_ns, seconds, used_us, ticks, used_ticks, processor, polls, utc_ns;
};

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void read_clocks(struct readings* r) {
  struct timeval day;
  struct timespec now;
  struct rusage used;
  struct tms ticks;
  gettimeofday(&day, NULL);
  r->day_us = day.tv_sec * 1000000LL + day.tv_usec;
  clock_gettime(CLOCK_MONOTONIC, &now);
  r->day_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
  r->seconds = time(NULL);
  getrusage(RUSAGE_SELF, &used);
  r->used_us = used.ru_utime.tv_sec * 1000000LL + used.ru_utime.tv_usec;
  r->ticks = times(&ticks);
  r->used_ticks = ticks.tms_utime;
  r->processor = clock();
  timespec_get(&now, TIME_UTC);
  r->utc_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char** argv) {
  struct timeval before;
  const double start_of_program = seconds();
  double (*since_loaded)(void) = NULL;
  *(void**)&since_loaded = dlsym(RTLD_DEFAULT, "seconds_since_loaded");
  gettimeofday(&before, NULL);
  srand((unsigned)(before.tv_usec ^ time(NULL)));
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int round = 0; round < 20; ++round) {
    struct readings mine, travelling;
    memset(&mine, 0, sizeof mine);
    mine.seed = rand();
    read_clocks(&mine);
    mine.running = seconds() - start_of_program;
    mine.loaded = since_loaded ? since_loaded() : 0;
    wrong += mine.running < 0 || mine.running > 3600 || mine.loaded < 0 || mine.loaded > 3600;
    const double start = MPI_Wtime();
    while (MPI_Wtime() - start < 0.002) ++mine.polls;
    travelling = mine;
    for (int hop = 0; hop < ranks; ++hop) {
      MPI_Sendrecv_replace(&travelling, sizeof travelling, MPI_BYTE, (rank + 1) % ranks, 1, (rank + ranks - 1) % ranks,
                           1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    wrong += memcmp(&travelling, &mine, sizeof mine) != 0;
  }
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("clocks: %s\n", all == 0 ? "PASSED" : "FAILED");
  MPI_Finalize();
  return all != 0;
}
