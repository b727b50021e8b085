/* Threads that use one file by its own pointer, another by the shared one, and one window, with nothing that says whose
   call comes first: what is written where is not defined, but that all of it is there. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "replica.h"

enum { thread_count = 3, rounds = 8 };

static int rank, ranks;
static MPI_File by_pointer, by_shared;
static MPI_Win window;

static int number_of(int thread, int round) {
  return 1000 * rank + 100 * thread + round + 1;
}

static void* use(void* argument) {
  const int thread = *(int*)argument;
  for (int round = 0; round < rounds; ++round) {
    const int number = number_of(thread, round), place = thread * rounds + round;
    if ((thread + round + native_rank()) % 3 == 0) usleep(300);
    MPI_File_write(by_pointer, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Put(&number, 1, MPI_INT, (rank + 1) % ranks, place, 1, MPI_INT, window);
    MPI_Win_flush((rank + 1) % ranks, window);
    MPI_File_write_shared(by_shared, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
  }
  return NULL;
}

static MPI_File opened(const char* kind) {
  MPI_File file;
  char name[64];
  snprintf(name, sizeof name, "shared-access-%s-%d.data", kind, rank);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  return file;
}

static long sum_in(MPI_File file) {
  int numbers[thread_count * rounds];
  long sum = 0;
  MPI_File_read_at(file, 0, numbers, thread_count * rounds, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < thread_count * rounds; ++i) sum += numbers[i];
  return sum;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided != MPI_THREAD_MULTIPLE) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  by_pointer = opened("own");
  by_shared = opened("shared");
  int* memory = NULL;
  MPI_Win_allocate(thread_count * rounds * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_lock_all(0, window);
  int numbers[thread_count];
  pthread_t threads[thread_count];
  for (int i = 0; i < thread_count; ++i) numbers[i] = i;
  for (int i = 0; i < thread_count; ++i) pthread_create(&threads[i], NULL, use, &numbers[i]);
  for (int i = 0; i < thread_count; ++i) pthread_join(threads[i], NULL);
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  long mine[3] = {sum_in(by_pointer), sum_in(by_shared), 0}, all[3];
  for (int i = 0; i < thread_count * rounds; ++i) mine[2] += memory[i];
  MPI_Reduce(mine, all, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("by pointer %ld, by shared pointer %ld, by window %ld\n", all[0], all[1], all[2]);
  MPI_Win_free(&window);
  MPI_File_close(&by_shared);
  MPI_File_close(&by_pointer);
  MPI_Finalize();
  return 0;
}
