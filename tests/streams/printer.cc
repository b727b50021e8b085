// Prints as C++ programs do, with streams that share the C library's buffers and with streams that do not.
#include <mpi.h>

#include <iostream>

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(argc < 2);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    for (int i = 0; i < 100; ++i) std::cout << "rank " << rank << " line " << i << '\n';
    std::cerr << "rank " << rank << " to standard error" << std::endl;
    std::cout << "the end" << std::endl;
  }
  MPI_Finalize();
}
