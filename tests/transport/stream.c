/* Bandwidth over time: process 1 sends messages of 256 KiB to process 0, eight of them on their way, until a file
 * appears. Process 0 checks that none is missing, repeated or out of order, and prints JSON: when it began (seconds of
 * CLOCK_MONOTONIC), the length of a period in milliseconds, and how many bytes came in each.
 *
 *   stream FILE_OF_THE_END
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { message_bytes = 262144, window = 8, period_ms = 20, most_periods = 10000, last = 1 };

struct message {
  uint64_t number;
  uint64_t flags;
  unsigned char rest[message_bytes - 16];
};

static struct message* messages;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void send_all(const char* end) {
  MPI_Request requests[window];
  for (int i = 0; i < window; ++i) requests[i] = MPI_REQUEST_NULL;
  for (uint64_t n = 0, over = 0; !over; ++n) {
    const int place = (int)(n % window);
    MPI_Wait(&requests[place], MPI_STATUS_IGNORE);
    over = access(end, F_OK) == 0;
    messages[place].number = n;
    messages[place].flags = over ? last : 0;
    MPI_Isend(&messages[place], message_bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[place]);
  }
  MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
}

static void receive_all(void) {
  static uint64_t bytes[most_periods];
  MPI_Request requests[window];
  for (int i = 0; i < window; ++i) MPI_Irecv(&messages[i], message_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[i]);
  const double start = now();
  size_t periods = 0;
  uint64_t wrong = 0;
  for (uint64_t n = 0, over = 0; !over; ++n) {
    struct message* message = &messages[n % window];
    MPI_Wait(&requests[n % window], MPI_STATUS_IGNORE);
    wrong += message->number != n || message->rest[0] != 1 || message->rest[sizeof message->rest - 1] != 1;
    over = message->flags == last;
    const size_t period = (size_t)((now() - start) * 1000 / period_ms);
    if (period < most_periods) {
      bytes[period] += message_bytes;
      periods = period + 1;
    }
    if (!over)
      MPI_Irecv(message, message_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[n % window]);
    else
      for (uint64_t i = 1; i < window; ++i) {
        MPI_Cancel(&requests[(n + i) % window]);
        MPI_Wait(&requests[(n + i) % window], MPI_STATUS_IGNORE);
      }
  }
  printf("{\"wrong\": %llu, \"start_s\": %.6f, \"period_ms\": %d, \"bytes\": [", (unsigned long long)wrong, start,
         period_ms);
  for (size_t i = 0; i < periods; ++i) printf("%s%llu", i > 0 ? ", " : "", (unsigned long long)bytes[i]);
  printf("]}\n");
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  messages = malloc(window * sizeof *messages);
  if (count != 2 || messages == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  memset(messages, 1, window * sizeof *messages);
  if (rank == 1)
    send_all(words[1]);
  else if (rank == 0)
    receive_all();
  MPI_Finalize();
  free(messages);
  return 0;
}
