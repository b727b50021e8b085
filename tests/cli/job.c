/* A job for the launcher's tests. "job ACTION [ARGUMENT]":
 *   exit N                all ranks end with status N
 *   read DIR              rank 0 of every replica copies its input to DIR/<native rank>
 *                         (other ranks have none to read: MPICH gives them a pipe that never ends)
 *   wait DIR              says that it is up in DIR/<native rank>, and sleeps
 *   environment NAME DIR  writes the variable's value to DIR/<native rank>
 *   host DIR              writes the host's name to DIR/<native rank>
 *   say TEXT              rank 0 writes it to standard output, a line
 *   noread                reads nothing */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE* file_of(const char* folder, int rank) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%d", folder, rank);
  FILE* file = fopen(path, "w");
  if (!file) exit(99);
  return file;
}

static void copy_input(FILE* file) {
  char buffer[65536];
  size_t got;
  while ((got = fread(buffer, 1, sizeof buffer, stdin)) > 0) fwrite(buffer, 1, got, file);
}

int main(int argc, char** argv) {
  int rank = 0;
  int status = 0;
  const char* action = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(action, "read") == 0) {
    FILE* file = file_of(argv[2], rank);
    const char* ranks = getenv("HOLDFAST_RUN_RANKS");
    if (ranks && rank % atoi(ranks) == 0) copy_input(file);
    fclose(file);
  } else if (strcmp(action, "environment") == 0) {
    FILE* file = file_of(argv[3], rank);
    fputs(getenv(argv[2]) ? getenv(argv[2]) : "(unset)", file);
    fclose(file);
  } else if (strcmp(action, "host") == 0) {
    FILE* file = file_of(argv[2], rank);
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    fputs(name, file);
    fclose(file);
  } else if (strcmp(action, "wait") == 0) {
    fclose(file_of(argv[2], rank));
    sleep(1000);
  } else if (strcmp(action, "say") == 0) {
    if (rank == 0) puts(argv[2]);
  } else if (strcmp(action, "exit") == 0) {
    status = atoi(argv[2]);
  }
  MPI_Finalize();
  return status;
}
