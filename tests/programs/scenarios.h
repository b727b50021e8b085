/* What the programs of this folder do alike: a table of scenarios, of which the command line chooses (all without it),
 * and a check that says where it failed. Rank 0 prints one line a scenario; what a program prints depends on its
 * arguments and the number of ranks alone. */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Scenario {
  const char* name;
  void (*run)(void);
};

static int rank, ranks, failures;

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      ++failures;                                                                            \
      fprintf(stderr, "rank %d: %s:%d: not so: %s\n", rank, __FILE__, __LINE__, #condition); \
    }                                                                                        \
  } while (0)

/* Runs the chosen scenarios; the exit code. Between MPI_Init and MPI_Finalize. */
static int run_scenarios(int argc, char** argv, const struct Scenario* scenarios, int count) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int all = 0;
  for (int i = 0; i < count; ++i) {
    int chosen = argc < 2;
    for (int a = 1; a < argc; ++a) chosen |= strcmp(argv[a], scenarios[i].name) == 0;
    if (!chosen) continue;
    failures = 0;
    scenarios[i].run();
    int wrong;
    MPI_Allreduce(&failures, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %s\n", scenarios[i].name, wrong ? "WRONG" : "right");
    fflush(stdout);
    all += wrong;
  }
  return all ? 1 : 0;
}
