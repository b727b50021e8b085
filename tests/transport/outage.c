/* Ten small messages while the network is down: MPI_Send() returns, since they are copied; whether they arrive, once
 * and in order, is what the receiver's numbers say.
 *
 *   outage directed|wildcard SIGN DONE
 *
 * Process 0 waits for the file SIGN, sends, makes the file DONE, and waits for the answer. The receives name their
 * sender or take from anybody. Prints "verified" when the sum of all ten came back.
 */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { messages = 10 };

static void make(const char* path) {
  FILE* file = fopen(path, "w");
  if (file != NULL) fclose(file);
}

static int send_all(const char* sign, const char* done) {
  while (access(sign, F_OK) != 0) usleep(10000);
  for (int i = 1; i <= messages; ++i) MPI_Send(&i, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
  make(done);
  int sum = 0;
  MPI_Recv(&sum, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("the sum of ten messages is %d\n", sum);
  if (sum != messages * (messages + 1) / 2) return 1;
  printf("verified\n");
  return 0;
}

static int receive_all(int source) {
  int sum = 0;
  int bad = 0;
  for (int i = 1; i <= messages; ++i) {
    int number = 0;
    MPI_Recv(&number, 1, MPI_INT, source, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (number != i) printf("WRONG: message %d came in place of %d\n", number, i);
    bad += number != i;
    sum += number;
  }
  MPI_Send(&sum, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
  return bad != 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int bad = argc < 4;
  MPI_Barrier(MPI_COMM_WORLD); /* the two know each other */
  if (!bad && rank == 0) {
    make("ready");
    bad = send_all(argv[2], argv[3]);
  }
  if (!bad && rank == 1) bad = receive_all(strcmp(argv[1], "wildcard") == 0 ? MPI_ANY_SOURCE : 0);
  MPI_Finalize();
  return bad;
}
