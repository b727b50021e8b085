/* Calls of each kind in numbers that record_test.py knows: ROUNDS each. Usage: known_counts ROUNDS FOLDER [kill|limit];
 * with "kill", rank 1 is killed after the rounds, without a word; with "limit", files may have 256 bytes meanwhile. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, ranks, left, right, rounds;
static char out[4096], in[4096];

static void messages(void) {
  MPI_Request both[2];
  for (int i = 0; i < rounds; ++i) {
    MPI_Irecv(in, 2000, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(out, 1000, MPI_CHAR, right, 1, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 8, MPI_DOUBLE, right, 2, in, 8, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Recv_init(in, 16, MPI_CHAR, left, 3, MPI_COMM_WORLD, &both[0]);
  MPI_Send_init(out, 16, MPI_CHAR, right, 3, MPI_COMM_WORLD, &both[1]);
  for (int i = 0; i < rounds; ++i) {
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  MPI_Send(out, 1, MPI_CHAR, MPI_PROC_NULL, 4, MPI_COMM_WORLD);
  MPI_Isend(out, 5, MPI_CHAR, right, 5, MPI_COMM_WORLD, &both[0]);
  MPI_Status status;
  int there = 0;
  while (!there) MPI_Iprobe(left, 5, MPI_COMM_WORLD, &there, &status);
  MPI_Recv(in, 5, MPI_CHAR, status.MPI_SOURCE, 5, MPI_COMM_WORLD, &status);
  MPI_Wait(&both[0], MPI_STATUS_IGNORE);
}

static void collectives(void) {
  double value = rank, sum;
  for (int i = 0; i < rounds; ++i) MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) MPI_Bcast(in, 4096, MPI_CHAR, 1, MPI_COMM_WORLD);
  int* counts = malloc(4 * sizeof(int) * (size_t)ranks);
  for (int i = 0; i < ranks; ++i) {
    counts[i] = 4 * (i + 1);
    counts[ranks + i] = 0;
    counts[2 * ranks + i] = 4 * (rank + 1);
    counts[3 * ranks + i] = 0;
  }
  MPI_Alltoallv(out, counts, counts + ranks, MPI_CHAR, in, counts + 2 * ranks, counts + 3 * ranks, MPI_CHAR,
                MPI_COMM_WORLD);
  free(counts);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Request request;
  MPI_Ibarrier(half, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&half);
}

static void windows_and_files(const char* folder) {
  MPI_Win window;
  MPI_Win_create(in, 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(out, 32, MPI_CHAR, right, 0, 32, MPI_CHAR, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  char name[4096];
  snprintf(name, sizeof(name), "%s/written", folder);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, 128 * rank, out, 128, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  rounds = atoi(argv[1]);
  left = (rank + ranks - 1) % ranks;
  right = (rank + 1) % ranks;
  memset(out, 7, sizeof(out));
  const int limited = argc > 3 && strcmp(argv[3], "limit") == 0;
  struct rlimit before, few;
  getrlimit(RLIMIT_FSIZE, &before);
  few = before;
  few.rlim_cur = 256;
  if (limited) setrlimit(RLIMIT_FSIZE, &few);
  messages();
  if (limited) setrlimit(RLIMIT_FSIZE, &before);
  collectives();
  if (argc > 3 && strcmp(argv[3], "kill") == 0 && rank == 1) kill(getpid(), SIGKILL);
  windows_and_files(argv[2]);
  MPI_Wtime();
  MPI_Finalize();
  return 0;
}
