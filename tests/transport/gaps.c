/* How long messages stand still: two processes send 64 KiB to each other in turn until a file appears, and process 0
 * says what the longest turn was, before and after another file appeared (when somebody took a link down, say).
 *
 *   gaps FILE_OF_THE_FAILURE FILE_OF_THE_END
 *
 * Prints JSON: for "before" and "after" the turns, and their median and longest time in microseconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { message_bytes = 65536, most_turns = 10000000 };

static int compare(const void* a, const void* b) {
  const float x = *(const float*)a;
  const float y = *(const float*)b;
  return (x > y) - (x < y);
}

static void print(const char* name, float* times, size_t count, const char* end) {
  qsort(times, count, sizeof *times, compare);
  printf("\"%s\": {\"turns\": %zu, \"median_us\": %.1f, \"longest_us\": %.1f}%s", name, count,
         count > 0 ? (double)times[count / 2] : 0.0, count > 0 ? (double)times[count - 1] : 0.0, end);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* message = malloc(message_bytes);
  float* times = malloc(most_turns * sizeof *times);
  if (count != 3 || message == NULL || times == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  memset(message, 1, message_bytes);
  size_t turns = 0;
  size_t before = 0;
  while (message[0] != 0) {
    const double start = MPI_Wtime();
    if (rank == 0) {
      message[0] = turns + 1 < most_turns && access(words[2], F_OK) != 0;
      MPI_Send(message, message_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(message, message_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (before == 0 && access(words[1], F_OK) == 0) before = turns + 1;
      times[turns++] = (float)((MPI_Wtime() - start) * 1e6);
    } else {
      MPI_Recv(message, message_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(message, message_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) {
    if (before == 0) before = turns;
    printf("{");
    print("before", times, before - 1, ", ");
    print("after", times + before - 1, turns - before + 1, "}\n");
  }
  MPI_Finalize();
  free(message);
  free(times);
  return 0;
}
