/* Two threads that wait on one communicator and tag, one before the other, and in the next replica the other first: an
   order on which replicas do not agree, which must be found out. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "replica.h"

static int rank, replica;
static pthread_barrier_t both, first_is_done;

static void* test_a_request(void* argument) {
  const int number = *(int*)argument, word = rank; /* a flip strikes what is sent, not what the program steers by */
  /* Both threads ask on the same channel, the second after one call more. */
  for (int i = 0; i <= number; ++i) MPI_Send(&word, 1, MPI_INT, rank, 9, MPI_COMM_SELF);
  pthread_barrier_wait(&both);
  const int waits = number == replica % 2;
  if (waits) pthread_barrier_wait(&first_is_done);
  int in = 0, index = 0;
  MPI_Request requests[1];
  MPI_Irecv(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &requests[0]);
  MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
  if (!waits) pthread_barrier_wait(&first_is_done);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0, ranks = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  replica = native_rank() / ranks;
  rank = 0; /* on MPI_COMM_SELF */
  pthread_barrier_init(&both, NULL, 2);
  pthread_barrier_init(&first_is_done, NULL, 2);
  int numbers[2] = {0, 1};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, test_a_request, &numbers[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  int in = 0;
  MPI_Recv(&in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
