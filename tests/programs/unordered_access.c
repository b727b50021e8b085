/* Two threads that use one window, or one file by its pointer: an order on which replicas do not agree, which must be
   found out. And threads that use one file by explicit offsets, one of them another one in one replica.

   usage: unordered_access window|file turns|at-once, unordered_access file offset
     turns    one after the other, and in the next replica the other first
     offset   each writes by an offset of its own; replica 1 has one wrong
     at-once  the second goes on while the first is inside a call, in which the next replica's first never comes */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replica.h"

static int rank, ranks, replica, on_file, at_once;
static MPI_File file;
static MPI_Win window;
static pthread_barrier_t first_is_done;
static atomic_int done;

static void use(int number) {
  const int out[2] = {number, number};
  if (on_file) {
    MPI_File_write(file, out, number + 1, MPI_INT, MPI_STATUS_IGNORE);
  } else {
    MPI_Put(out, 1, MPI_INT, rank, number, 1, MPI_INT, window);
    MPI_Win_flush(rank, window);
  }
}

static void* use_in_turn(void* argument) {
  const int number = *(int*)argument;
  const int waits = number == replica % 2;
  if (waits) pthread_barrier_wait(&first_is_done);
  use(number);
  if (!waits) pthread_barrier_wait(&first_is_done);
  return NULL;
}

static void* use_offset(void* argument) {
  const int number = *(int*)argument, wrong = number == 1 && replica == 1;
  MPI_File_write_at(file, (number + (wrong ? 16 : 0)) * (int)sizeof number, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
  return NULL;
}

static void* use_at_once(void* argument) {
  if (*(int*)argument == 0) {
    while (replica > 0) pause();
    use(0);
    done = 1;
  } else {
    while (!done) use(1);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (argc != 3 || provided != MPI_THREAD_MULTIPLE) return 1;
  on_file = strcmp(argv[1], "file") == 0;
  at_once = strcmp(argv[2], "at-once") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  replica = native_rank() / ranks;
  char name[32];
  int* memory = NULL;
  snprintf(name, sizeof name, "unordered-%d.data", rank);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock_all(0, window);
  pthread_barrier_init(&first_is_done, NULL, 2);
  int numbers[2] = {0, 1};
  void* (*const how)(void*) = strcmp(argv[2], "offset") == 0 ? use_offset : at_once ? use_at_once : use_in_turn;
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, how, &numbers[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
