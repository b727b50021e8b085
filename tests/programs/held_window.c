/* Holds a window open until it is killed. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int* memory = NULL;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Win_allocate_shared(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  for (;;) pause();
}
