/* A replica that goes another way: ranks exchange, reduce, read clocks and print; one process, or all of a replica's,
   does something else from a step on. Arguments: --strays NATIVE --at STEP --way WAY, --then NATIVE --then-at STEP (a
   second one), --steps N. The ways: leaves (the loop, early), stays (in the loop, for more steps), skips (a message),
   sends (one too many, and waits for its answer), reads (a clock once more), asks (probes where others read a clock),
   sleeps (for ever, outside MPI), reduces (another reduction than the others). The result at the end is known in
   advance. */
#include <mpi.h>
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

static int number_of(int count, char** arguments, const char* name, int otherwise) {
  const char* text = text_of(count, arguments, name);
  return text ? atoi(text) : otherwise;
}

int main(int count, char** arguments) {
  const int native = native_rank();
  const int strays = number_of(count, arguments, "--strays", -1);
  const int at = number_of(count, arguments, "--at", 10);
  const int then = number_of(count, arguments, "--then", -1);
  const int then_at = number_of(count, arguments, "--then-at", 20);
  const char* way = text_of(count, arguments, "--way");
  int steps = number_of(count, arguments, "--steps", 30);
  MPI_Init(&count, &arguments);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double value = rank + 1;
  const int next = (rank + 1) % ranks;
  const int before = (rank + ranks - 1) % ranks;
  const int all_steps = steps;
  for (int step = 0; step < steps; ++step) {
    const int now = (native == strays && step == at) || (native == then && step == then_at);
    const char* what = now && way ? way : "";
    if (strcmp(what, "leaves") == 0) break;
    if (strcmp(what, "stays") == 0) steps += 5;
    if (strcmp(what, "sleeps") == 0)
      for (;;) sleep(1000);
    double from = 0;
    if (strcmp(what, "skips") != 0)
      MPI_Sendrecv(&value, 1, MPI_DOUBLE, next, 3, &from, 1, MPI_DOUBLE, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(what, "sends") == 0)
      MPI_Sendrecv(&value, 1, MPI_DOUBLE, next, 4, &from, 1, MPI_DOUBLE, before, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    value = from;
    double sum = 0;
    if (strcmp(what, "reduces") == 0) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(what, "reads") == 0) (void)MPI_Wtime();
    int waiting = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &waiting, MPI_STATUS_IGNORE);
    if (strcmp(what, "asks") == 0)
      MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &waiting, MPI_STATUS_IGNORE);
    else
      (void)MPI_Wtime();
    if (rank == 0 && step < all_steps) printf("step %d sum %g\n", step, sum);
  }
  if (rank == 0) printf("value %g\n", value);
  MPI_Finalize();
  return 0;
}
