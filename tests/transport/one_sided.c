/* One-sided communication, checked: every process adds to a counter of process 0, swaps a ticket, puts and gets. Prints
 * "verified" when all was right. */
#include <mpi.h>
#include <stdio.h>

enum { rounds = 200, words = 5000 };

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long* memory = NULL;
  MPI_Win window;
  MPI_Win_allocate((words + 8) * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  for (int i = 0; i < words + 8; ++i) memory[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  long bad = 0;
  long last = -1;
  for (int i = 0; i < rounds; ++i) {
    const long one = 1;
    long old = 0;
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    bad += old <= last || old >= (long)rounds * size;
    last = old;
    long swapped = 0;
    for (;;) { /* a lock of our own: 0 is free */
      const long mine = rank + 1;
      const long free_word = 0;
      MPI_Compare_and_swap(&mine, &free_word, &swapped, MPI_LONG, 0, 1, window);
      MPI_Win_flush(0, window);
      if (swapped == 0) break;
    }
    long inside = 0;
    MPI_Get(&inside, 1, MPI_LONG, 0, 2, 1, MPI_LONG, window);
    MPI_Win_flush(0, window);
    ++inside;
    MPI_Put(&inside, 1, MPI_LONG, 0, 2, 1, MPI_LONG, window);
    MPI_Win_flush(0, window);
    const long none = 0;
    MPI_Accumulate(&none, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_REPLACE, window);
    MPI_Win_flush(0, window);
  }
  static long out[words];
  static long in[words];
  for (int i = 0; i < words; ++i) out[i] = rank * 1000003L + i;
  const int next = (rank + 1) % size;
  MPI_Put(out, words, MPI_LONG, next, 8, words, MPI_LONG, window);
  MPI_Win_flush(next, window);
  MPI_Get(in, words, MPI_LONG, next, 8, words, MPI_LONG, window);
  MPI_Win_flush(next, window);
  for (int i = 0; i < words; ++i) bad += in[i] != out[i];
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) bad += memory[0] != (long)rounds * size || memory[2] != (long)rounds * size;
  long all = 0;
  MPI_Reduce(&bad, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf(all == 0 ? "verified\n" : "WRONG: %ld\n", all);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
