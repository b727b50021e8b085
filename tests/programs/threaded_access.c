/* MPI_THREAD_MULTIPLE: threads that use MPI-IO and windows at once, each a file and a window of its own, and one file
   all together, each in a part of its own, by explicit offsets. What each finds there is known in advance. The numbers
   that the ranks draw from a window depend on who comes first, and must be alike in all replicas, which the sum at the
   end would show. Files are opened and closed by one thread, and not accessed by collective calls: Open MPI 4.1 and
   MPICH 4.0 hang in those when several threads make them, without replication too. Nor by non-blocking ones under Open
   MPI 4.1, whose list of what is in flight several threads destroy, natively as well. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { thread_count = 3, rounds = 8, length = 64, head = 64 };

struct Work {
  int number;
  MPI_Comm comm;
  MPI_File file;
  MPI_File common;
  long wrong;
  long drawn;
};

static int rank, ranks;

static int blocks(int round) {
#ifdef OPEN_MPI
  (void)round;
  return 1;
#else
  return round % 2;
#endif
}

static int value(const struct Work* work, int of, int round, int i) {
  return 1000000 * work->number + 10000 * of + 100 * round + i;
}

/* Writes this rank's part and reads the next one's, from `start` on. */
static void use_file(struct Work* work, MPI_File file, MPI_Offset start, int round) {
  int own[length], got[length];
  const int next = (rank + 1) % ranks, size = (int)sizeof own;
  for (int i = 0; i < length; ++i) own[i] = value(work, rank, round, i);
  MPI_Status status;
  MPI_Request request;
  if (blocks(round)) {
    MPI_File_write_at(file, start + rank * size, own, length, MPI_INT, &status);
  } else {
    MPI_File_iwrite_at(file, start + rank * size, own, length, MPI_INT, &request);
    MPI_Wait(&request, &status);
  }
  MPI_Barrier(work->comm);
  memset(got, 0, sizeof got);
  if (blocks(round)) {
    MPI_File_read_at(file, start + next * size, got, length, MPI_INT, &status);
  } else {
    MPI_File_iread_at(file, start + next * size, got, length, MPI_INT, &request);
    MPI_Wait(&request, &status);
  }
  for (int i = 0; i < length; ++i) work->wrong += got[i] != value(work, next, round, i);
  MPI_Barrier(work->comm);
}

/* All threads read the same at once, some of them more of it. */
static void read_head(struct Work* work) {
  int got[4] = {0};
  MPI_Status status;
  MPI_File_read_at(work->common, 0, got, 2 + work->number % 2 * 2, MPI_INT, &status);
  for (int i = 0; i < 2 + work->number % 2 * 2; ++i) work->wrong += got[i] != 7000 + i;
}

static void use_window(struct Work* work, MPI_Win window, long* memory, int round) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  long out = value(work, rank, round, 0);
  MPI_Win_fence(0, window);
  MPI_Put(&out, 1, MPI_LONG, next, 0, 1, MPI_LONG, window);
  MPI_Win_fence(0, window);
  work->wrong += memory[0] != value(work, before, round, 0);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  long one = 1, ticket = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 1, MPI_SUM, window);
  MPI_Win_unlock(0, window);
  work->drawn = work->drawn * 7 + ticket;
  MPI_Barrier(work->comm);
}

static void* run(void* argument) {
  struct Work* work = argument;
  MPI_Win window;
  long* memory = NULL;
  MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, work->comm, &memory, &window);
  MPI_Win_fence(0, window);
  memory[0] = memory[1] = 0;
  for (int round = 0; round < rounds; ++round) {
    use_file(work, work->file, 0, round);
    use_file(work, work->common, head + (MPI_Offset)work->number * ranks * length * (int)sizeof(int), round);
    read_head(work);
    use_window(work, window, memory, round);
  }
  MPI_Win_free(&window);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_File common;
  const int at_head[4] = {7000, 7001, 7002, 7003};
  MPI_File_open(MPI_COMM_WORLD, "threaded-common.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &common);
  if (rank == 0) MPI_File_write_at(common, 0, at_head, 4, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  struct Work work[thread_count];
  pthread_t threads[thread_count];
  for (int i = 0; i < thread_count; ++i) {
    work[i] = (struct Work){.number = i, .common = common};
    MPI_Comm_dup(MPI_COMM_WORLD, &work[i].comm);
    char name[32];
    snprintf(name, sizeof name, "threaded-%d.data", i);
    MPI_File_open(work[i].comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &work[i].file);
  }
  for (int i = 0; i < thread_count; ++i) pthread_create(&threads[i], NULL, run, &work[i]);
  for (int i = 0; i < thread_count; ++i) pthread_join(threads[i], NULL);
  long wrong = provided != MPI_THREAD_MULTIPLE, all = 0, drawn = 0;
  for (int i = 0; i < thread_count; ++i) {
    wrong += work[i].wrong;
    drawn += work[i].drawn;
    MPI_File_close(&work[i].file);
    MPI_Comm_free(&work[i].comm);
  }
  MPI_File_close(&common);
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &drawn, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("threaded_access: %d threads, %ld wrong\n", thread_count, all);
  MPI_Finalize();
  return all != 0 || drawn == 1;
}
