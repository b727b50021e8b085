// A million small messages, and more in flight than anybody looks at one by one: windows of sends and receives, some of
// them from anybody unless WINDOW is followed by anything. The sender is far ahead of the receiver most of the time.
//   many_messages [MESSAGES [WINDOW [named]]]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char content(long message) {
  return (unsigned char)(message * 2654435761L >> 7);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long messages = argc > 1 ? atol(argv[1]) : 1000000;
  const int window = argc > 2 ? atoi(argv[2]) : 500;
  const int from_anybody = argc > 3 ? 0 : 16;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned char* bytes = malloc((size_t)window);
  MPI_Request* requests = malloc((size_t)window * sizeof *requests);
  for (long first = 0; first < messages; first += window) {
    for (int k = 0; k < window; ++k) {
      bytes[k] = content(first + k);
      if (rank % 2 == 0) {
        MPI_Isend(&bytes[k], 1, MPI_BYTE, rank ^ 1, k & 7, MPI_COMM_WORLD, &requests[k]);
      } else {
        bytes[k] = 0;
        MPI_Irecv(&bytes[k], 1, MPI_BYTE, k & from_anybody ? MPI_ANY_SOURCE : rank ^ 1, k & 7, MPI_COMM_WORLD,
                  &requests[k]);
      }
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < window; ++k) {
      if (bytes[k] == content(first + k)) continue;
      fprintf(stderr, "rank %d: message %ld is wrong\n", rank, first + k);
      MPI_Abort(MPI_COMM_WORLD, 9);
    }
  }
  free(requests);
  free(bytes);
  MPI_Finalize();
  if (rank == 0) puts("all right");
  return 0;
}
