/* A replica that loses a process: ranks pass a ring, reduce, take messages from anybody and print; one process kills
   itself on the way. Arguments: --dies NATIVE --at STEP, --then NATIVE --then-at STEP (a second one), --all-of RANK
   (its processes in every replica), --by SIGNAL, --steps N, --file PATH (rank 0 writes there), --hold-file (one is open
   through MPI-IO), --last-words out|err (what is wrong in the one that dies is seen there before). The result at the
   end is known in advance, whoever died. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replica.h"

static const char* text_of(int count, char** arguments, const char* name) {
  for (int i = 1; i + 1 < count; ++i)
    if (strcmp(arguments[i], name) == 0) return arguments[i + 1];
  return NULL;
}

static int has(int count, char** arguments, const char* name) {
  for (int i = 1; i < count; ++i)
    if (strcmp(arguments[i], name) == 0) return 1;
  return 0;
}

static long number_of(int count, char** arguments, const char* name, long otherwise) {
  const char* text = text_of(count, arguments, name);
  return text ? atol(text) : otherwise;
}

/* Rank 0 takes one number from every other rank, in any order, by each of the ways to wait. */
static long gather_from_anybody(int rank, int ranks, int step) {
  long sum = 0;
  if (rank != 0) {
    long mine = 100L * rank + step;
    MPI_Send(&mine, 1, MPI_LONG, 0, 7, MPI_COMM_WORLD);
    return 0;
  }
  long values[64];
  MPI_Request requests[64];
  for (int i = 1; i < ranks; ++i)
    MPI_Irecv(&values[i], 1, MPI_LONG, step % 2 ? MPI_ANY_SOURCE : i, 7, MPI_COMM_WORLD, &requests[i - 1]);
  int left = ranks - 1;
  while (left > 0) {
    int index = 0;
    int flag = 0;
    if (step % 3 == 0) {
      MPI_Waitany(ranks - 1, requests, &index, MPI_STATUS_IGNORE);
      --left;
    } else if (step % 3 == 1) {
      MPI_Testany(ranks - 1, requests, &index, &flag, MPI_STATUS_IGNORE);
      left -= flag;
    } else {
      int many = 0;
      int indices[64];
      MPI_Waitsome(ranks - 1, requests, &many, indices, MPI_STATUSES_IGNORE);
      left -= many;
    }
  }
  for (int i = 1; i < ranks; ++i) sum += values[i];
  return sum;
}

/* What comes of what is wrong in this process, once what it printed before has been shown, and until that is shown. */
static void say_last_words(const char* where) {
  if (where == NULL) return;
  fflush(stdout);
  fprintf(strcmp(where, "out") == 0 ? stdout : stderr, "step -1 sum 99");
  fflush(stdout);
  sleep(1);
}

int main(int count, char** arguments) {
  const int dies = (int)number_of(count, arguments, "--dies", -1);
  const int at = (int)number_of(count, arguments, "--at", 10);
  const int then = (int)number_of(count, arguments, "--then", -1);
  const int then_at = (int)number_of(count, arguments, "--then-at", 20);
  const int all_of = (int)number_of(count, arguments, "--all-of", -1);
  const int by = (int)number_of(count, arguments, "--by", SIGKILL);
  const int steps = (int)number_of(count, arguments, "--steps", 40);
  const char* path = text_of(count, arguments, "--file");
  const int hold = has(count, arguments, "--hold-file");
  if (dies == native_rank() && at < 0) raise(by);
  MPI_Init(&count, &arguments);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  FILE* file = path && rank == 0 ? fopen(path, "w") : NULL;
  MPI_File shared = MPI_FILE_NULL;
  if (hold) MPI_File_open(MPI_COMM_WORLD, "held.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &shared);
  double value = rank + 1;
  long all = 0;
  for (int step = 0; step < steps; ++step) {
    double from = 0;
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % ranks, 3, &from, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (dies == native_rank() && step == at) say_last_words(text_of(count, arguments, "--last-words"));
    if ((dies == native_rank() || all_of == rank) && step == at) raise(by);
    if (then == native_rank() && step == then_at) raise(by);
    value = from;
    double sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int waiting = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &waiting, MPI_STATUS_IGNORE);
    all += gather_from_anybody(rank, ranks, step);
    if (rank == 0) printf("step %d sum %g\n", step, sum);
    if (file) fprintf(file, "step %d sum %g\n", step, sum);
    const double before = MPI_Wtime();
    while (MPI_Wtime() - before < 0.002) {
    }
  }
  if (file) fclose(file);
  if (shared != MPI_FILE_NULL) MPI_File_close(&shared);
  if (rank == 0) printf("taken %ld\n", all);
  MPI_Finalize();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (rank == 0) printf("finalized %d\n", finalized);
  return 0;
}
