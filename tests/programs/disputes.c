/* Rank 0 sends to rank 1 in every way that a message can be received, and lies in the replicas that --bad names: other
 * bits, or another length. Without replication it says the truth. What rank 1 prints must be the same with and without.
 *
 * usage: disputes [--bad REPLICA[,REPLICA...]] [--alike] SCENARIO...
 * --alike: the bad replicas send the same wrong values, not each its own. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replica.h"

enum { length = 500, stream_length = 3000 };

static int rank, replica = -1, bad, alike;
static double data[2 * length];

static void find_replica(const char* list) {
  replica = own_replica();
  if (replica < 0) return;
  for (const char* at = list; at != NULL && *at != '\0'; at += strcspn(at, ","), at += *at == ',')
    if (atoi(at) == replica) bad = 1;
}

/* The n-th message's contents, false ones in a bad replica. */
static void fill(int n) {
  for (int i = 0; i < 2 * length; ++i) data[i] = 1000 * n + i;
  if (bad && rank == 0) data[n % 7] += 0.5 * (alike ? 1 : 1 + replica);
}
static void send_number(int n, int tag) {
  fill(n);
  MPI_Send(data, length, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD);
}
static void show(const char* what, const double* got, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += (i + 1) * got[i];
  printf("%s: %d numbers, %.1f\n", what, count, sum);
}
static void clear(void) {
  memset(data, 0, sizeof data);
}

static void blocking(void) {
  if (rank == 0) send_number(1, 1);
  if (rank != 1) return;
  clear();
  MPI_Recv(data, length, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  show("blocking", data, length);
}

/* Four receives of one channel, completed from the last to the first. */
static void pending(void) {
  static double got[4][length];
  MPI_Request requests[4];
  if (rank == 0)
    for (int i = 0; i < 4; ++i) send_number(10 + i, 2);
  if (rank != 1) return;
  for (int i = 0; i < 4; ++i) MPI_Irecv(got[i], length, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &requests[i]);
  for (int i = 3; i >= 0; --i) {
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    show("pending", got[i], length);
  }
}

static void persistent(void) {
  MPI_Request request;
  if (rank == 0) MPI_Send_init(data, length, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Recv_init(data, length, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &request);
  if (rank > 1) return;
  for (int i = 0; i < 3; ++i) {
    if (rank == 0) fill(20 + i);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) show("persistent", data, length);
  }
  MPI_Request_free(&request);
}

/* Every other number; those between are the receiver's own and must stay. */
static void strided(void) {
  MPI_Datatype every_other;
  MPI_Type_vector(length, 1, 2, MPI_DOUBLE, &every_other);
  MPI_Type_commit(&every_other);
  if (rank == 0) send_number(30, 4);
  if (rank == 1) {
    MPI_Request request;
    for (int i = 0; i < 2 * length; ++i) data[i] = -i;
    MPI_Irecv(data, 1, every_other, 0, 4, MPI_COMM_WORLD, &request);
    MPI_Type_free(&every_other);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    show("strided", data, 2 * length);
  } else {
    MPI_Type_free(&every_other);
  }
}

static void wildcards(void) {
  MPI_Status status;
  if (rank == 0) send_number(40, 5);
  if (rank == 0) send_number(41, 6);
  if (rank != 1) return;
  for (int i = 0; i < 2; ++i) {
    clear();
    MPI_Recv(data, length, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    printf("from %d tag %d, ", status.MPI_SOURCE, status.MPI_TAG);
    show("wildcards", data, length);
  }
}

static void probed(void) {
  MPI_Message message;
  MPI_Status status;
  if (rank == 0) send_number(50, 7);
  if (rank == 0) send_number(51, 7);
  if (rank != 1) return;
  int count;
  clear();
  MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  MPI_Mrecv(data, count, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
  show("probed", data, length);
  for (int there = 0; !there;) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
  MPI_Recv(data, length, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  show("probed", data, length);
}

/* Nothing else completes before the message in dispute does: the others must look at it though their application waits
 * for the leader's word only. */
static void decided(void) {
  static double got[4][length];
  MPI_Request requests[4];
  int index, flag = 0, count, indices[4];
  if (rank == 0) {
    for (int i = 0; i < 4; ++i) {
      send_number(60 + i, 8);
      MPI_Recv(data, 0, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  if (rank != 1) return;
  for (int i = 0; i < 4; ++i) MPI_Irecv(got[i], length, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, &requests[i]);
  MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
  MPI_Send(data, 0, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
  while (!flag) MPI_Testany(4, requests, &index, &flag, MPI_STATUS_IGNORE);
  MPI_Send(data, 0, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
  MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
  MPI_Send(data, 0, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
  for (flag = 0; !flag;) MPI_Test(&requests[3], &flag, MPI_STATUS_IGNORE);
  MPI_Send(data, 0, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD);
  for (int i = 0; i < 4; ++i) show("decided", got[i], length);
}

/* The application gives the request away; the message is corrected all the same. */
static void given_away(void) {
  static double got[length];
  if (rank == 0) send_number(70, 10);
  if (rank == 0) send_number(71, 11);
  if (rank != 1) return;
  MPI_Request request;
  MPI_Irecv(got, length, MPI_DOUBLE, 0, 10, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Recv(data, length, MPI_DOUBLE, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  show("given_away", data, length);
}

/* Nothing between two numbers; a bad replica sends something. */
static void empty(void) {
  fill(80);
  if (rank == 0) MPI_Send(data, bad ? 1 : 0, MPI_DOUBLE, 1, 12, MPI_COMM_WORLD);
  if (rank != 1) return;
  MPI_Status status;
  int count;
  clear();
  MPI_Recv(data, length, MPI_DOUBLE, 0, 12, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  show("empty", data, count);
}

static void shorter(void) {
  fill(90);
  if (rank == 0) MPI_Send(data, bad ? length / 2 : length, MPI_DOUBLE, 1, 13, MPI_COMM_WORLD);
  if (rank != 1) return;
  MPI_Status status;
  int count;
  clear();
  MPI_Recv(data, length, MPI_DOUBLE, 0, 13, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  show("shorter", data, count);
}

/* Too long for the buffer in a bad replica only, whose receive MPI itself reports as truncated. */
static void longer(void) {
  fill(100);
  if (rank == 0) MPI_Send(data, bad ? 2 * length : length, MPI_DOUBLE, 1, 14, MPI_COMM_WORLD);
  if (rank != 1) return;
  MPI_Status status;
  int count;
  clear();
  MPI_Recv(data, length, MPI_DOUBLE, 0, 14, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  show("longer", data, count);
}

/* Too long for the buffer everywhere: the application's own mistake, reported to it as ever. */
static void truncated(void) {
  if (rank == 0) send_number(110, 15);
  if (rank != 1) return;
  int class;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Recv(data, length / 2, MPI_DOUBLE, 0, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &class);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  printf("truncated: %d\n", class == MPI_ERR_TRUNCATE);
}

/* A receive with errors returned; says how it ended, which is the MPI library's own matter. */
static void receive_torn(const char* what, MPI_Datatype type) {
  double got[8] = {0};
  int class;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Recv(got, 1, type, 0, 18, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &class);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  printf("%s: %s\n", what, class == MPI_SUCCESS ? "taken" : class == MPI_ERR_TRUNCATE ? "truncated" : "another error");
}

/* An int, and a double behind a gap; of both, and of the double alone, nothing lies side by side. */
static void make_apart(MPI_Datatype* indexed, MPI_Datatype* mixed) {
  const int lengths[] = {1, 1}, places[] = {0, 2};
  const MPI_Aint bytes[] = {0, 16};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  MPI_Type_indexed(2, lengths, places, MPI_INT, indexed);
  MPI_Type_create_struct(2, lengths, bytes, types, mixed);
  MPI_Type_commit(indexed);
  MPI_Type_commit(mixed);
}

/* Part of an element arrives everywhere: MPICH reports that as truncated, too, and Open MPI takes it. */
static void torn(void) {
  const char bytes[] = {1, 2, 3, 4, 5, 6, 7};
  MPI_Datatype indexed, mixed;
  make_apart(&indexed, &mixed);
  if (rank == 0) {
    MPI_Send(bytes, 7, MPI_CHAR, 1, 18, MPI_COMM_WORLD);
    MPI_Send(bytes, 3, MPI_CHAR, 1, 18, MPI_COMM_WORLD);
    MPI_Send(bytes, 7, MPI_CHAR, 1, 18, MPI_COMM_WORLD);
    MPI_Send(bytes, 4, MPI_CHAR, 1, 18, MPI_COMM_WORLD);
  }
  if (rank == 1) {
    receive_torn("torn double", MPI_DOUBLE);
    receive_torn("torn integers", indexed);
    receive_torn("torn structure", mixed);
    receive_torn("part of a structure", mixed);
  }
  MPI_Type_free(&indexed);
  MPI_Type_free(&mixed);
}

/* Torn in a bad replica only. */
static void torn_in_one(void) {
  MPI_Datatype indexed, mixed;
  make_apart(&indexed, &mixed);
  fill(160);
  if (rank == 0) {
    MPI_Send(data, bad ? 7 : 8, MPI_CHAR, 1, 18, MPI_COMM_WORLD);
    MPI_Send(data, bad ? 7 : 8, MPI_CHAR, 1, 18, MPI_COMM_WORLD);
    MPI_Send(data, bad ? 11 : 12, MPI_CHAR, 1, 18, MPI_COMM_WORLD);
  }
  if (rank == 1) {
    receive_torn("torn double", MPI_DOUBLE);
    receive_torn("torn integers", indexed);
    receive_torn("torn structure", mixed);
  }
  MPI_Type_free(&indexed);
  MPI_Type_free(&mixed);
}

/* Whole in a bad replica only, which cannot be given what MPICH refuses. */
static void whole_in_one(void) {
  MPI_Datatype indexed, mixed;
  make_apart(&indexed, &mixed);
  fill(170);
  if (rank == 0) MPI_Send(data, bad ? 8 : 7, MPI_CHAR, 1, 18, MPI_COMM_WORLD);
  if (rank == 1) receive_torn("whole integers", indexed);
  MPI_Type_free(&indexed);
  MPI_Type_free(&mixed);
}

/* Too long for the buffer in all replicas but the bad one. */
static void fits_in_one(void) {
  fill(180);
  if (rank == 0) MPI_Send(data, bad ? 4 : 16, MPI_CHAR, 1, 18, MPI_COMM_WORLD);
  if (rank == 1) receive_torn("too long", MPI_DOUBLE);
}

/* A sender that stays corrupt, and a receiver that is far behind it. */
static void stream(void) {
  double number = 0, sum = 0;
  for (int i = 0; i < stream_length; ++i) {
    if (rank == 0) {
      number = bad ? i + 0.25 * (1 + replica) : i;
      MPI_Send(&number, 1, MPI_DOUBLE, 1, 16, MPI_COMM_WORLD);
    }
    if (rank == 1) {
      if (i == 0) usleep(replica == 1 ? 300000 : 0);
      MPI_Recv(&number, 1, MPI_DOUBLE, 0, 16, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += number;
    }
  }
  if (rank == 1) show("stream", &sum, 1);
}

/* Replicas that saw nothing are in a collective when the others have a question. */
static void collectives(void) {
  for (int i = 0; i < 20; ++i) {
    double sum = 0, one = rank + i;
    MPI_Comm half;
    if (rank == 0) send_number(120 + i, 17);
    if (rank == 1) {
      clear();
      if (replica == 1) usleep(5000);
      MPI_Recv(data, length, MPI_DOUBLE, 0, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      show("collectives", data, length);
    }
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Comm_free(&half);
    if (rank == 1) show("collectives", &sum, 1);
  }
}

/* A receive is cancelled while, in one replica, it has its message already and the others have a question about it. */
static void cancelled(void) {
  double got[length], go = 0;
  if (rank == 0) {
    usleep(replica == 0 || replica == 2 ? 100000 : 0);
    send_number(150, 18);
  }
  if (rank == 2) {
    usleep(replica == 1 ? 300000 : 0);
    MPI_Send(&go, 1, MPI_DOUBLE, 1, 19, MPI_COMM_WORLD);
  }
  if (rank != 1) return;
  MPI_Request request;
  MPI_Status status;
  int gone;
  MPI_Irecv(got, length, MPI_DOUBLE, 0, 18, MPI_COMM_WORLD, &request);
  MPI_Recv(&go, 1, MPI_DOUBLE, 2, 19, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &gone);
  if (gone) MPI_Recv(got, length, MPI_DOUBLE, 0, 18, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  show("cancelled", got, length);
}

static const struct {
  const char* name;
  void (*run)(void);
} scenarios[] = {
    {"blocking", blocking},
    {"pending", pending},
    {"persistent", persistent},
    {"strided", strided},
    {"wildcards", wildcards},
    {"probed", probed},
    {"decided", decided},
    {"given_away", given_away},
    {"empty", empty},
    {"shorter", shorter},
    {"longer", longer},
    {"truncated", truncated},
    {"torn", torn},
    {"torn_in_one", torn_in_one},
    {"whole_in_one", whole_in_one},
    {"fits_in_one", fits_in_one},
    {"stream", stream},
    {"collectives", collectives},
    {"cancelled", cancelled},
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int a = 1; a < argc; ++a) {
    if (strcmp(argv[a], "--alike") == 0) alike = 1;
    if (strcmp(argv[a], "--bad") == 0 && a + 1 < argc) find_replica(argv[++a]);
    for (size_t s = 0; s < sizeof scenarios / sizeof *scenarios; ++s)
      if (strcmp(argv[a], scenarios[s].name) == 0) scenarios[s].run();
  }
  MPI_Finalize();
  return 0;
}
