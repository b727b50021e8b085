/* One call of nearly every kind of communication, each with its own check and a digest, so that the output of two runs
 * (with and without replication, one MPI and another) can be compared line by line. Named after the neighbours that
 * most sections talk to. Works with any number of ranks, one included. */
#include "program.h"

static long long length = 100;
static int rank, ranks, left, right;
static uint64_t digest, all_sections;
static int wrong_here;

static void expect(int good) {
  wrong_here |= !good;
}
static void see(const void* data, size_t bytes) {
  digest = digest_bytes(digest, data, bytes);
}
static void see_ints(const int* data, int count) {
  see(data, (size_t)count * sizeof(int));
}

/* The i-th number of what `of` sends in a section. */
static int number(int of, int i) {
  return (int)(scrambled((uint64_t)of * 1000003 + (uint64_t)i) & 0xffffff);
}
static int* numbers(int of) {
  int* data = (int*)malloc(((size_t)length + 1) * sizeof(int));
  for (int i = 0; i < length; ++i) data[i] = number(of, i);
  return data;
}
static void expect_numbers_of(int of, const int* data) {
  for (int i = 0; i < length; ++i) expect(data[i] == number(of, i));
  see_ints(data, (int)length);
}
static void expect_status(const MPI_Status* status, int source, int tag, int count) {
  int got;
  MPI_Get_count(status, MPI_INT, &got);
  expect(status->MPI_SOURCE == source && status->MPI_TAG == tag && got == count);
  /* Names of no rank and no tag are negative, with values of each MPI's own. */
  const int seen[] = {source < 0 ? -1 : source, tag < 0 ? -1 : tag, got};
  see_ints(seen, 3);
}

/* ---- point to point ---- */

static void sendrecv(void) {
  int *out = numbers(rank), *in = numbers(-1);
  MPI_Status status;
  MPI_Sendrecv(out, (int)length, MPI_INT, right, 7, in, (int)length, MPI_INT, left, 7, MPI_COMM_WORLD, &status);
  expect_status(&status, left, 7, (int)length);
  expect_numbers_of(left, in);
  free(out);
  free(in);
}

static void sendrecv_replace(void) {
  int* data = numbers(rank);
  MPI_Status status;
  MPI_Sendrecv_replace(data, (int)length, MPI_INT, right, 8, left, 8, MPI_COMM_WORLD, &status);
  expect_status(&status, left, 8, (int)length);
  expect_numbers_of(left, data);
  free(data);
}

typedef int (*Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);

/* A blocking send to the right, while a receive from the left is posted. */
static void blocking_send(Send send, int tag) {
  int *out = numbers(rank), *in = numbers(-1);
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(in, (int)length, MPI_INT, left, tag, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  send(out, (int)length, MPI_INT, right, tag, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  expect_status(&status, left, tag, (int)length);
  expect_numbers_of(left, in);
  free(out);
  free(in);
}
static void standard_send(void) {
  blocking_send(MPI_Send, 9);
}
static void ready_send(void) {
  blocking_send(MPI_Rsend, 10);
}
static void synchronous_send(void) {
  blocking_send(MPI_Ssend, 11);
}
static void buffered_send(void) {
  int size;
  MPI_Pack_size((int)length, MPI_INT, MPI_COMM_WORLD, &size);
  size += MPI_BSEND_OVERHEAD;
  void* buffer = malloc((size_t)size);
  MPI_Buffer_attach(buffer, size);
  blocking_send(MPI_Bsend, 12);
  MPI_Buffer_detach(&buffer, &size);
  free(buffer);
}

static void issend_test_loop(void) {
  int *out = numbers(rank), *in = numbers(-1), done = 0;
  MPI_Request request;
  MPI_Issend(out, (int)length, MPI_INT, right, 13, MPI_COMM_WORLD, &request);
  MPI_Recv(in, (int)length, MPI_INT, left, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  expect(request == MPI_REQUEST_NULL);
  expect_numbers_of(left, in);
  free(out);
  free(in);
}

static void probe(void) {
  int *out = numbers(rank), *in = numbers(-1), there = 0;
  MPI_Request request;
  MPI_Status status;
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Isend(out, (int)length, MPI_INT, right, 14 + turn, MPI_COMM_WORLD, &request);
    if (turn == 0) MPI_Probe(left, 14, MPI_COMM_WORLD, &status);
    while (turn == 1 && !there) MPI_Iprobe(left, 15, MPI_COMM_WORLD, &there, &status);
    expect_status(&status, left, 14 + turn, (int)length);
    MPI_Recv(in, (int)length, MPI_INT, left, 14 + turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_numbers_of(left, in);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(out);
  free(in);
}

static void matched_probe(void) {
  int *out = numbers(rank), *in = numbers(-1), there = 0;
  MPI_Request sending, receiving;
  MPI_Message message;
  MPI_Status status;
  MPI_Isend(out, (int)length, MPI_INT, right, 16, MPI_COMM_WORLD, &sending);
  MPI_Mprobe(left, 16, MPI_COMM_WORLD, &message, &status);
  expect_status(&status, left, 16, (int)length);
  MPI_Mrecv(in, (int)length, MPI_INT, &message, &status);
  expect(message == MPI_MESSAGE_NULL);
  expect_status(&status, left, 16, (int)length);
  expect_numbers_of(left, in);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);

  MPI_Isend(out, (int)length, MPI_INT, right, 17, MPI_COMM_WORLD, &sending);
  while (!there) MPI_Improbe(left, 17, MPI_COMM_WORLD, &there, &message, &status);
  MPI_Imrecv(in, (int)length, MPI_INT, &message, &receiving);
  MPI_Wait(&receiving, &status);
  expect_status(&status, left, 17, (int)length);
  expect_numbers_of(left, in);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);

  MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status);
  expect(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(in, (int)length, MPI_INT, &message, &status);
  expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  free(out);
  free(in);
}

enum { several = 6 };

/* Which of several receives completes first is up to the network: what is seen must not depend on it. */
static void completion_of_several(void) {
  int *out = numbers(rank), *in[several];
  MPI_Request receives[several], sends[several];
  MPI_Status statuses[several], status;
  int indices[several], count, index, done;
  for (int kind = 0; kind < 5; ++kind) {
    for (int i = 0; i < several; ++i) {
      in[i] = numbers(-1);
      MPI_Irecv(in[i], (int)length, MPI_INT, left, 20 + i, MPI_COMM_WORLD, &receives[i]);
    }
    for (int i = 0; i < several; ++i) MPI_Isend(out, (int)length, MPI_INT, right, 20 + i, MPI_COMM_WORLD, &sends[i]);
    int left_over = several, tags = 0;
    while (left_over > 0) {
      if (kind == 0) {
        MPI_Waitany(several, receives, &index, &status);
        tags += status.MPI_TAG;
        --left_over;
      } else if (kind == 1) {
        MPI_Testany(several, receives, &index, &done, &status);
        if (done) tags += status.MPI_TAG;
        left_over -= done;
      } else if (kind == 2 || kind == 3) {
        (kind == 2 ? MPI_Waitsome : MPI_Testsome)(several, receives, &count, indices, statuses);
        for (int i = 0; i < count; ++i) tags += statuses[i].MPI_TAG;
        left_over -= count;
      } else {
        MPI_Testall(several, receives, &done, statuses);
        for (int i = 0; done && i < several; ++i) tags += statuses[i].MPI_TAG;
        left_over -= done ? several : 0;
      }
    }
    expect(tags == several * 20 + several * (several - 1) / 2);
    MPI_Waitany(several, receives, &index, &status);
    expect(index == MPI_UNDEFINED);
    MPI_Waitall(several, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < several; ++i) {
      expect_numbers_of(left, in[i]);
      free(in[i]);
    }
  }
  free(out);
}

static void persistent(void) {
  int *out = numbers(rank), *in = numbers(-1);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Recv_init(in, (int)length, MPI_INT, left, 30, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, (int)length, MPI_INT, right, 30, MPI_COMM_WORLD, &requests[1]);
  for (int turn = 0; turn < 3; ++turn) {
    if (turn == 0) {
      MPI_Start(&requests[0]);
      MPI_Start(&requests[1]);
    } else {
      MPI_Startall(2, requests);
    }
    MPI_Waitall(2, requests, statuses);
    expect(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
    expect_status(&statuses[0], left, 30, (int)length);
    expect_numbers_of(left, in);
    for (int i = 0; i < length; ++i) in[i] = -1;
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  free(out);
  free(in);
}

static void wildcards(void) {
  int value = number(rank, 0), got, sum = 0, expected = 0;
  MPI_Status status;
  if (rank != 0) {
    MPI_Send(&value, 1, MPI_INT, 0, 40 + rank, MPI_COMM_WORLD);
    return;
  }
  for (int i = 1; i < ranks; ++i) {
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    expect(status.MPI_TAG == 40 + status.MPI_SOURCE && got == number(status.MPI_SOURCE, 0));
    sum += got;
    expected += number(i, 0);
  }
  expect(sum == expected);
  see_ints(&sum, 1);
}

static void nothing_to_send(void) {
  int untouched = 12345;
  MPI_Status status;
  MPI_Sendrecv(NULL, 0, MPI_INT, right, 50, &untouched, 1, MPI_INT, left, 50, MPI_COMM_WORLD, &status);
  expect_status(&status, left, 50, 0);
  MPI_Sendrecv(&untouched, 1, MPI_INT, MPI_PROC_NULL, 51, &untouched, 1, MPI_INT, MPI_PROC_NULL, 51, MPI_COMM_WORLD,
               &status);
  expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  MPI_Request request;
  MPI_Irecv(&untouched, 1, MPI_INT, MPI_PROC_NULL, 52, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  expect_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
  expect(untouched == 12345);
  see_ints(&untouched, 1);
}

static void shorter_and_longer(void) {
  int out[8] = {1, 2, 3, 4, 5, 6, 7, 8}, in[8] = {0}, class_of_error;
  MPI_Comm comm;
  MPI_Request request;
  MPI_Status status;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Isend(out, 3, MPI_INT, right, 60, comm, &request);
  MPI_Recv(in, 8, MPI_INT, left, 60, comm, &status);
  expect_status(&status, left, 60, 3);
  expect(in[2] == 3 && in[3] == 0);
  see_ints(in, 8);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Isend(out, 8, MPI_INT, right, 61, comm, &request);
  const int error = MPI_Recv(in, 4, MPI_INT, left, 61, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Error_class(error, &class_of_error);
  expect(class_of_error == MPI_ERR_TRUNCATE && in[4] == 0);
  see_ints(in + 4, 4);
  MPI_Comm_free(&comm);
}

static void cancelled_receive(void) {
  int data = 77, cancelled = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&data, 1, MPI_INT, left, 70, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  expect(cancelled && data == 77);
  see_ints(&cancelled, 1);
}

/* ---- derived types ---- */

/* Sends the selected bytes of `from` to the right and receives into a copy of the blank; what no type selects must
 * stay. */
static void exchange_type(MPI_Datatype type, int count, const void* from, void* into, size_t bytes) {
  MPI_Status status;
  int elements;
  MPI_Type_commit(&type);
  MPI_Sendrecv(from, count, type, right, 80, into, count, type, left, 80, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, type, &elements);
  expect(elements == count);
  see(into, bytes);
  MPI_Type_free(&type);
}

struct Particle {
  char kind;
  double place[3];
  int id;
  short charge;
};

static void struct_with_gaps(void) {
  struct Particle out[5], in[5];
  memset(out, 0, sizeof out);
  memset(in, 0, sizeof in);
  for (int i = 0; i < 5; ++i) {
    out[i].kind = (char)('a' + i);
    for (int k = 0; k < 3; ++k) out[i].place[k] = rank + 0.125 * (i + k);
    out[i].id = number(rank, i);
    out[i].charge = (short)(rank - i);
  }
  const int lengths[] = {1, 3, 1, 1};
  const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT};
  MPI_Aint base, places[4];
  MPI_Get_address(&out[0], &base);
  MPI_Get_address(&out[0].kind, &places[0]);
  MPI_Get_address(out[0].place, &places[1]);
  MPI_Get_address(&out[0].id, &places[2]);
  MPI_Get_address(&out[0].charge, &places[3]);
  for (int i = 0; i < 4; ++i) places[i] -= base;
  MPI_Datatype fields, whole;
  MPI_Type_create_struct(4, lengths, places, types, &fields);
  MPI_Type_create_resized(fields, 0, sizeof(struct Particle), &whole);
  MPI_Type_free(&fields);
  exchange_type(whole, 5, out, in, sizeof in);
  for (int i = 0; i < 5; ++i) expect(in[i].id == number(left, i) && in[i].place[2] == left + 0.125 * (i + 2));
}

static void vector_type(void) {
  int out[60], in[60] = {0};
  for (int i = 0; i < 60; ++i) out[i] = number(rank, i);
  MPI_Datatype type;
  MPI_Type_vector(10, 2, 6, MPI_INT, &type);
  exchange_type(type, 1, out, in, sizeof in);
  for (int i = 0; i < 60; ++i) expect(in[i] == (i % 6 < 2 ? number(left, i) : 0));
}

static void indexed_type(void) {
  int out[40], in[40] = {0};
  for (int i = 0; i < 40; ++i) out[i] = number(rank, i);
  const int lengths[] = {3, 0, 5, 1}, places[] = {20, 1, 4, 39};
  MPI_Datatype type;
  MPI_Type_indexed(4, lengths, places, MPI_INT, &type);
  exchange_type(type, 1, out, in, sizeof in);
  for (int i = 0; i < 40; ++i)
    expect(in[i] == ((i >= 20 && i < 23) || (i >= 4 && i < 9) || i == 39 ? number(left, i) : 0));
}

static void resized_type(void) {
  int out[48], in[48] = {0};
  for (int i = 0; i < 48; ++i) out[i] = number(rank, i);
  MPI_Datatype pair, spread;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &spread);
  MPI_Type_free(&pair);
  exchange_type(spread, 12, out, in, sizeof in);
  for (int i = 0; i < 48; ++i) expect(in[i] == (i % 4 < 2 ? number(left, i) : 0));
}

static void subarray_type(void) {
  int out[6][7], in[6][7] = {{0}};
  for (int i = 0; i < 42; ++i) out[i / 7][i % 7] = number(rank, i);
  const int whole[] = {6, 7}, part[] = {3, 4}, start[] = {2, 1};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_INT, &type);
  exchange_type(type, 1, out, in, sizeof in);
  expect(in[2][1] == number(left, 15) && in[4][4] == number(left, 32) && in[1][1] == 0);
}

static void packed(void) {
  char out[64], in[64];
  int at = 0, whole = number(rank, 0), got_whole;
  double part = rank + 0.5, got_part;
  memset(out, 0, sizeof out);
  MPI_Pack(&whole, 1, MPI_INT, out, sizeof out, &at, MPI_COMM_WORLD);
  MPI_Pack(&part, 1, MPI_DOUBLE, out, sizeof out, &at, MPI_COMM_WORLD);
  MPI_Sendrecv(out, at, MPI_PACKED, right, 81, in, sizeof in, MPI_PACKED, left, 81, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  at = 0;
  MPI_Unpack(in, sizeof in, &at, &got_whole, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Unpack(in, sizeof in, &at, &got_part, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  expect(got_whole == number(left, 0) && got_part == left + 0.5);
  see_ints(&got_whole, 1);
  see(&got_part, sizeof got_part);
}

/* ---- collective ---- */

static int* room(int count) {
  return (int*)calloc((size_t)count + 1, sizeof(int));
}

static void rooted(void) {
  const int root = ranks - 1;
  int* data = numbers(rank);
  MPI_Bcast(data, (int)length, MPI_INT, root, MPI_COMM_WORLD);
  expect_numbers_of(root, data);
  free(data);

  int own[2] = {number(rank, 0), number(rank, 1)}, *all = room(2 * ranks), back[2];
  MPI_Gather(own, 2, MPI_INT, all, 2, MPI_INT, root, MPI_COMM_WORLD);
  for (int i = 0; rank == root && i < ranks; ++i) expect(all[2 * i + 1] == number(i, 1));
  MPI_Scatter(all, 2, MPI_INT, back, 2, MPI_INT, root, MPI_COMM_WORLD);
  expect(back[0] == own[0] && back[1] == own[1]);
  see_ints(back, 2);

  int sum = 0, expected = 0;
  MPI_Reduce(own, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) expected += number(i, 0);
  expect(rank != root || sum == expected);
  see_ints(&sum, 1);
  free(all);
}

/* Rank i has i + 1 numbers; the places leave a gap of one between ranks. */
static int variable(int** counts, int** places) {
  *counts = room(ranks);
  *places = room(ranks);
  int end = 0;
  for (int i = 0; i < ranks; ++i) {
    (*counts)[i] = i + 1;
    (*places)[i] = end;
    end += i + 2;
  }
  return end;
}

static void variable_rooted(void) {
  int *counts, *places;
  const int end = variable(&counts, &places);
  int *all = room(end), *own = numbers(rank), *back = room(ranks);
  own = (int*)realloc(own, ((size_t)length + (size_t)ranks + 1) * sizeof(int));
  for (int i = 0; i <= rank; ++i) own[i] = number(rank, i);
  MPI_Gatherv(own, rank + 1, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < ranks; ++i)
    expect(all[places[i] + i] == number(i, i) && all[places[i] + i + 1] == 0);
  see_ints(all, end);
  MPI_Scatterv(all, counts, places, MPI_INT, back, rank + 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i <= rank; ++i) expect(back[i] == number(rank, i));
  see_ints(back, ranks);
  free(counts);
  free(places);
  free(all);
  free(own);
  free(back);
}

static void to_all(void) {
  int *counts, *places, own[2] = {number(rank, 0), number(rank, 1)}, *all = room(2 * ranks);
  MPI_Allgather(own, 2, MPI_INT, all, 2, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) expect(all[2 * i] == number(i, 0) && all[2 * i + 1] == number(i, 1));
  see_ints(all, 2 * ranks);
  const int end = variable(&counts, &places);
  int *mine = room(ranks), *gathered = room(end);
  for (int i = 0; i <= rank; ++i) mine[i] = number(rank, i);
  MPI_Allgatherv(mine, rank + 1, MPI_INT, gathered, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) expect(gathered[places[i]] == number(i, 0));
  see_ints(gathered, end);
  free(counts);
  free(places);
  free(all);
  free(mine);
  free(gathered);
}

static void all_to_all(void) {
  int *out = room(ranks), *in = room(ranks), *counts = room(ranks), *places = room(ranks), *bytes = room(ranks);
  MPI_Datatype* types = (MPI_Datatype*)malloc((size_t)ranks * sizeof *types);
  for (int i = 0; i < ranks; ++i) {
    out[i] = number(rank, i);
    counts[i] = 1;
    places[i] = i;
    bytes[i] = i * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  for (int kind = 0; kind < 3; ++kind) {
    memset(in, 0, (size_t)ranks * sizeof(int));
    if (kind == 0) MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    if (kind == 1) MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    if (kind == 2) MPI_Alltoallw(out, counts, bytes, types, in, counts, bytes, types, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; ++i) expect(in[i] == number(i, rank));
    see_ints(in, ranks);
  }
  free(out);
  free(in);
  free(counts);
  free(places);
  free(bytes);
  free(types);
}

static void scans(void) {
  int own = rank + 1, up_to = 0, before = 0;
  MPI_Scan(&own, &up_to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Exscan(&own, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(up_to == (rank + 1) * (rank + 2) / 2 && (rank == 0 || before == up_to - own));
  see_ints(&up_to, 1);
  if (rank > 0) see_ints(&before, 1);
}

static void reduce_scatters(void) {
  int *out = room(ranks * ranks), *counts = room(ranks), *in = room(ranks), one = 0, total = 0, expected = 0;
  for (int i = 0; i < ranks; ++i) {
    out[i] = number(rank, i);
    counts[i] = i == 0 ? ranks : 0;
    expected += number(i, rank);
  }
  MPI_Reduce_scatter_block(out, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(one == expected);
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) total += number(i, 0);
  expect(rank != 0 || in[0] == total);
  see_ints(&one, 1);
  see_ints(in, ranks);
  free(out);
  free(counts);
  free(in);
}

static void weave(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((double*)inout)[i] = 0.5 * ((double*)in)[i] + ((double*)inout)[i] / 3;
}

static void all_reduces(void) {
  double own[3] = {1.0 / (rank + 3), rank * 0.1, -rank}, sum[3], woven[3];
  struct {
    double value;
    int place;
  } mine, greatest;
  memset(&mine, 0, sizeof mine);
  memset(&greatest, 0, sizeof greatest);
  mine.value = number(rank, 3);
  mine.place = rank;
  MPI_Allreduce(own, sum, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  see(sum, sizeof sum);
  expect(sum[2] == -ranks * (ranks - 1) / 2.0);
  MPI_Allreduce(&mine, &greatest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  expect(greatest.value == number(greatest.place, 3));
  see(&greatest.value, sizeof greatest.value);
  see_ints(&greatest.place, 1);
  MPI_Op op;
  MPI_Op_create(weave, 0, &op);
  MPI_Allreduce(own, woven, 3, MPI_DOUBLE, op, MPI_COMM_WORLD);
  see(woven, sizeof woven);
  MPI_Op_free(&op);
}

static void in_place(void) {
  int *data = room(ranks), sum = rank + 1, expected = ranks * (ranks + 1) / 2, up_to = rank + 1;
  data[rank] = number(rank, 0);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) expect(data[i] == number(i, 0));
  see_ints(data, ranks);
  for (int i = 0; i < ranks; ++i) data[i] = number(rank, i);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 1, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) expect(data[i] == number(i, rank));
  see_ints(data, ranks);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == expected);
  sum = rank + 1;
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : (void*)&sum, rank == 0 ? &sum : NULL, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  expect(rank != 0 || sum == expected);
  see_ints(&sum, 1);
  MPI_Scan(MPI_IN_PLACE, &up_to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(up_to == (rank + 1) * (rank + 2) / 2);
  if (rank == 0) data[0] = number(0, 9);
  const int own = number(rank, 9);
  MPI_Gather(rank == 0 ? MPI_IN_PLACE : &own, 1, MPI_INT, data, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < ranks; ++i) expect(data[i] == number(i, 9));
  see_ints(data, ranks);
  free(data);
}

static void non_blocking_collectives(void) {
  enum { count = 10 };
  int *data = numbers(rank), *in = room(ranks), *out = room(ranks), *gathered = room(ranks), *all = room(ranks);
  int one = 0, sum = 0, up_to = 0, before = 0, reduced = 0, own = rank + 1, back = 0;
  MPI_Request requests[count];
  for (int i = 0; i < ranks; ++i) out[i] = number(rank, i);
  MPI_Ibcast(data, (int)length, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &requests[2]);
  MPI_Igather(&own, 1, MPI_INT, gathered, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Iallgather(&own, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &requests[4]);
  MPI_Iscan(&own, &up_to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[5]);
  MPI_Iexscan(&own, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[6]);
  MPI_Ireduce(&own, &reduced, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD, &requests[7]);
  MPI_Ireduce_scatter_block(out, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[8]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[9]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  expect_numbers_of(0, data);
  int greatest = 0;
  for (int i = 0; i < ranks; ++i) {
    expect(in[i] == number(i, rank) && all[i] == i + 1);
    if (number(i, rank) > greatest) greatest = number(i, rank);
  }
  expect(sum == ranks * (ranks + 1) / 2 && up_to == own * (own + 1) / 2 && (rank == 0 || before == up_to - own));
  expect((rank != 0 || (reduced == ranks && gathered[ranks - 1] == ranks)) && one == greatest);
  MPI_Iscatter(all, 1, MPI_INT, &back, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  expect(back == own);
  see_ints(in, ranks);
  see_ints(all, ranks);
  const int seen[] = {sum, up_to, one, back};
  see_ints(seen, 4);
  free(data);
  free(in);
  free(out);
  free(gathered);
  free(all);
}

/* ---- communicators ---- */

static void splits(void) {
  MPI_Comm half, alone, dup;
  int half_rank, half_ranks, sum = 0, result;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  MPI_Comm_rank(half, &half_rank);
  MPI_Comm_size(half, &half_ranks);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
  int expected = 0;
  for (int i = rank % 2; i < ranks; i += 2) expected += i;
  expect(sum == expected && half_rank == half_ranks - 1 - rank / 2);
  const int seen[] = {half_rank, half_ranks, sum};
  see_ints(seen, 3);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 1 : MPI_UNDEFINED, 0, &alone);
  expect((alone == MPI_COMM_NULL) == (rank != 0));
  if (alone != MPI_COMM_NULL) MPI_Comm_free(&alone);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_compare(MPI_COMM_WORLD, dup, &result);
  expect(result == MPI_CONGRUENT);
  int got, own = number(rank, 5);
  MPI_Sendrecv(&own, 1, MPI_INT, right, 90, &got, 1, MPI_INT, left, 90, dup, MPI_STATUS_IGNORE);
  expect(got == number(left, 5));
  see_ints(&got, 1);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&half);
}

static void groups(void) {
  MPI_Group world, reversed;
  MPI_Comm comm;
  int ranges[1][3] = {{ranks - 1, 0, -1}}, own, members;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_size(world, &members);
  expect(members == ranks);
  MPI_Group_range_incl(world, 1, ranges, &reversed);
  for (int kind = 0; kind < 2; ++kind) {
    if (kind == 0)
      MPI_Comm_create(MPI_COMM_WORLD, reversed, &comm);
    else
      MPI_Comm_create_group(MPI_COMM_WORLD, reversed, 3, &comm);
    MPI_Comm_rank(comm, &own);
    expect(own == ranks - 1 - rank);
    int value = own;
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    expect(value == 0);
    see_ints(&own, 1);
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&world);
  MPI_Group_free(&reversed);
}

static void between_halves(void) {
  if (ranks < 2) return;
  MPI_Comm half, inter, merged;
  const int side = rank % 2;
  int others, merged_rank, sum, expected = 0;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 4, &inter);
  MPI_Comm_remote_size(inter, &others);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
  for (int i = 1 - side; i < ranks; i += 2) expected += i;
  expect(sum == expected);
  MPI_Intercomm_merge(inter, side, &merged);
  MPI_Comm_rank(merged, &merged_rank);
  expect(merged_rank == (side == 0 ? rank / 2 : (ranks + 1) / 2 + rank / 2));
  const int seen[] = {others, sum, merged_rank};
  see_ints(seen, 3);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static void topologies(void) {
  const int dims[] = {ranks}, periodic[] = {1};
  int source, dest, own = number(rank, 6), around[2] = {0, 0};
  MPI_Comm circle, graph;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 0, &circle);
  MPI_Cart_shift(circle, 0, 1, &source, &dest);
  expect(source == left && dest == right);
  MPI_Neighbor_allgather(&own, 1, MPI_INT, around, 1, MPI_INT, circle);
  expect(around[0] == number(left, 6) && around[1] == number(right, 6));
  see_ints(around, 2);
  MPI_Comm_free(&circle);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  around[0] = 0;
  MPI_Neighbor_alltoall(&own, 1, MPI_INT, around, 1, MPI_INT, graph);
  expect(around[0] == number(left, 6));
  see_ints(around, 1);
  MPI_Comm_free(&graph);
}

static int copies, deletes;
static int copy_attribute(MPI_Comm comm, int keyval, void* state, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)state;
  ++copies;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm comm, int keyval, void* value, void* state) {
  (void)comm, (void)keyval, (void)value, (void)state;
  ++deletes;
  return MPI_SUCCESS;
}

static void attributes(void) {
  int keyval, flag, mark = 17, *got = NULL;
  MPI_Comm dup;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &got, &flag);
  expect(flag && *got >= 32767);
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &mark);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_get_attr(dup, keyval, &got, &flag);
  expect(flag && got == &mark);
  MPI_Comm_free(&dup);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
  MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &got, &flag);
  expect(!flag && copies == 1 && deletes == 2);
  MPI_Comm_free_keyval(&keyval);
  see_ints(&copies, 1);
  see_ints(&deletes, 1);
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int written;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &written);
  expect(strcmp(name, "MPI_COMM_WORLD") == 0);
  see(name, (size_t)written);
}

struct Section {
  const char* name;
  void (*run)(void);
};

static const struct Section sections[] = {
    {"sendrecv", sendrecv},
    {"sendrecv_replace", sendrecv_replace},
    {"send", standard_send},
    {"rsend", ready_send},
    {"ssend", synchronous_send},
    {"bsend", buffered_send},
    {"issend_test", issend_test_loop},
    {"probe", probe},
    {"mprobe", matched_probe},
    {"completion", completion_of_several},
    {"persistent", persistent},
    {"wildcards", wildcards},
    {"nothing", nothing_to_send},
    {"truncated", shorter_and_longer},
    {"cancelled", cancelled_receive},
    {"struct", struct_with_gaps},
    {"vector", vector_type},
    {"indexed", indexed_type},
    {"resized", resized_type},
    {"subarray", subarray_type},
    {"packed", packed},
    {"rooted", rooted},
    {"rooted_v", variable_rooted},
    {"allgather", to_all},
    {"alltoall", all_to_all},
    {"scan", scans},
    {"reduce_scatter", reduce_scatters},
    {"allreduce", all_reduces},
    {"in_place", in_place},
    {"non_blocking", non_blocking_collectives},
    {"split", splits},
    {"groups", groups},
    {"intercomm", between_halves},
    {"topologies", topologies},
    {"attributes", attributes},
    {"names", names},
};

/* Returns whether the section was right everywhere. */
static int run_section(const struct Section* section) {
  digest = digest_start;
  wrong_here = 0;
  section->run();
  int wrong_anywhere;
  MPI_Allreduce(&wrong_here, &wrong_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  const uint64_t all = digest_of_all(digest, MPI_COMM_WORLD);
  all_sections = digest_bytes(all_sections, &all, sizeof all);
  if (rank == 0) {
    printf("ring: %-18s %016llx%s\n", section->name, (unsigned long long)all, wrong_anywhere ? " WRONG" : "");
    fflush(stdout);
  }
  return !wrong_anywhere;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Option options[] = {{"length", &length, 0, 1 << 24, "numbers in a message"}};
  read_options(argc, argv, "Makes one call of each kind and prints a digest for each.", options, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  left = (rank + ranks - 1) % ranks;
  right = (rank + 1) % ranks;

  int wrong = 0;
  all_sections = digest_start;
  for (size_t i = 0; i < sizeof sections / sizeof *sections; ++i) wrong += !run_section(&sections[i]);
  if (rank == 0) printf("ring: digest %016llx %s\n", (unsigned long long)all_sections, wrong ? "WRONG" : "verified");
  MPI_Finalize();
  return wrong ? 1 : 0;
}
