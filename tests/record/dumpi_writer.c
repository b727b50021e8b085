/* Preloaded into an MPI program, writes what dumpi2ascii would show of a trace of DUMPI (the format: dumpi2ascii-defs.h
 * and dumpi2ascii-callbacks.c of sst-dumpi 13): one text for each rank, "trace-0003.txt", in DUMPI_FOLDER. Debian has
 * no DUMPI. Shares nothing with the reader that it is there to judge. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static FILE* out;
static struct timespec begun;

#define MOST 4096
static MPI_Comm comms[MOST];
static MPI_Datatype types[MOST];
static int type_sizes[MOST];
static MPI_Request requests[MOST];
static int comm_count, type_count;

static void moment(const char* function, const char* what, const struct timespec* at) {
  fprintf(out, "%s %s at walltime %ld.%09ld, cputime 0.000000000 seconds in thread 0.\n", function, what,
          (long)at->tv_sec, at->tv_nsec);
}
static void enter(void) {
  clock_gettime(CLOCK_MONOTONIC, &begun);
}
static void head(const char* function) {
  moment(function, "entering", &begun);
}
static void leave(const char* function, const struct timespec* at) {
  moment(function, "returning", at);
}
#define ENTER()         \
  struct timespec over; \
  enter()
#define CALL(function, arguments)         \
  const int code = P##function arguments; \
  clock_gettime(CLOCK_MONOTONIC, &over);  \
  if (!out) return code;                  \
  head(#function)
#define LEAVE(function)    \
  leave(#function, &over); \
  return code

static int comm_number(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return 1;
  if (comm == MPI_COMM_WORLD) return 2;
  if (comm == MPI_COMM_SELF) return 3;
  for (int i = comm_count; i-- > 0;)
    if (comms[i] == comm) return 4 + i;
  comms[comm_count] = comm;
  return 4 + comm_count++;
}
static void put_comm(const char* name, MPI_Comm comm) {
  const int number = comm_number(comm);
  fprintf(out, "MPI_Comm %s=%d (%s)\n", name, number,
          number == 1   ? "MPI_COMM_NULL"
          : number == 2 ? "MPI_COMM_WORLD"
          : number == 3 ? "MPI_COMM_SELF"
                        : "user-defined-comm");
}
/* The sizes of all types stand at the end, as `dumpi2ascii -a` shows them. */
static void put_type(const char* name, MPI_Datatype type) {
  int number = type == MPI_CHAR ? 2 : type == MPI_BYTE ? 5 : type == MPI_INT ? 9 : type == MPI_DOUBLE ? 14 : 0;
  for (int i = type_count; number == 0 && i-- > 0;)
    if (types[i] == type) number = 28 + i;
  if (number == 0) {
    types[type_count] = type;
    PMPI_Type_size(type, &type_sizes[type_count]); /* it may be freed before the end */
    number = 28 + type_count++;
  }
  fprintf(out, "MPI_Datatype %s=%d (%s)\n", name, number,
          number == 2   ? "MPI_CHAR"
          : number < 28 ? "MPI_OTHER"
                        : "user-defined-datatype");
}
static void put_source(const char* name, int source) {
  if (source == MPI_ANY_SOURCE)
    fprintf(out, "int %s=-1 (MPI_ANY_SOURCE)\n", name);
  else
    fprintf(out, "int %s=%d\n", name, source);
}
static void put_tag(const char* name, int tag) {
  if (tag == MPI_ANY_TAG)
    fprintf(out, "int %s=-1 (MPI_ANY_TAG)\n", name);
  else
    fprintf(out, "int %s=%d\n", name, tag);
}
static void put_ints(const char* name, const int* values, int count) {
  fprintf(out, "int %s[%d]=", name, count);
  if (count < 1) fprintf(out, "<IGNORED>\n");
  for (int i = 0; i < count; ++i) fprintf(out, "%s%d%s", i ? ", " : "[", values[i], i + 1 == count ? "]\n" : "");
}
static void put_statuses(const char* name, int count, const MPI_Status* all, int array) {
  array ? fprintf(out, "MPI_Status %s[%d]=", name, count) : fprintf(out, "MPI_Status %s=", name);
  if (count < 1 || all == MPI_STATUSES_IGNORE) {
    fprintf(out, "<IGNORED>\n");
    return;
  }
  for (int i = 0; i < count; ++i) {
    int bytes = 0, cancelled = 0;
    PMPI_Get_count(&all[i], MPI_BYTE, &bytes);
    PMPI_Test_cancelled(&all[i], &cancelled);
    fprintf(out, "%s{bytes=%d, cancelled=%d, source=%d, tag=%d, error=0}%s", i ? ", " : "[", bytes, cancelled,
            all[i].MPI_SOURCE, all[i].MPI_TAG, i + 1 == count ? "]\n" : "");
  }
}
/* A request has one number while it lives. */
static int request_number(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return 1;
  for (int i = 0; i < MOST; ++i)
    if (requests[i] == request) return 2 + i;
  return 0;
}
static int new_request(MPI_Request request) {
  for (int i = 0; i < MOST; ++i)
    if (requests[i] == MPI_REQUEST_NULL) {
      requests[i] = request;
      return 2 + i;
    }
  abort();
}
static void forget(int number) {
  if (number > 1) requests[number - 2] = MPI_REQUEST_NULL;
}

static void start(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char path[4096];
  snprintf(path, sizeof path, "%s/trace-%04d.txt", getenv("DUMPI_FOLDER"), rank);
  for (int i = 0; i < MOST; ++i) requests[i] = MPI_REQUEST_NULL;
  out = fopen(path, "w");
  if (!out) abort();
  fprintf(out,
          "version=13.0.0\nstarttime=Tue Nov 24 03:39:40 "
          "2026\n\nhostname=somewhere\nusername=somebody\nmeshdim=0\nmeshsize=[]\nmeshcrd=[]\n");
}
int MPI_Init(int* argc, char*** argv) {
  ENTER();
  const int code = PMPI_Init(argc, argv);
  clock_gettime(CLOCK_MONOTONIC, &over);
  start();
  head("MPI_Init");
  fprintf(out, "int argc=%d\nstring argv[1]=[\"a program\"]\n", argc ? *argc : 0);
  LEAVE(MPI_Init);
}
int MPI_Finalize(void) {
  ENTER();
  clock_gettime(CLOCK_MONOTONIC, &over);
  head("MPI_Finalize");
  leave("MPI_Finalize", &over);
  fprintf(out, "Total keyvals: 0\nMPI_Send called 1 times and ignored 0 times\n");
  for (int i = 0; i < 28; ++i)
    fprintf(out, "Datatype %d (MPI_SOME) has size %d\n", i, i == 2 || i == 5 ? 1 : i == 9 ? 4 : i == 14 ? 8 : 0);
  for (int i = 0; i < type_count; ++i)
    fprintf(out, "Datatype %d (user-defined-datatype) has size %d\n", 28 + i, type_sizes[i]);
  fclose(out);
  out = NULL;
  return PMPI_Finalize();
}

#define SENDS(function)                                                                              \
  int function(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) { \
    ENTER();                                                                                         \
    CALL(function, (buffer, count, type, dest, tag, comm));                                          \
    fprintf(out, "int count=%d\n", count);                                                           \
    put_type("datatype", type);                                                                      \
    fprintf(out, "int dest=%d\n", dest);                                                             \
    put_tag("tag", tag);                                                                             \
    put_comm("comm", comm);                                                                          \
    LEAVE(function);                                                                                 \
  }
SENDS(MPI_Send)
SENDS(MPI_Rsend)
SENDS(MPI_Ssend)
int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ENTER();
  CALL(MPI_Isend, (buffer, count, type, dest, tag, comm, request));
  fprintf(out, "int count=%d\n", count);
  put_type("datatype", type);
  fprintf(out, "int dest=%d\nint tag=%d\n", dest, tag);
  put_comm("comm", comm);
  fprintf(out, "MPI_Request request=[%d]\n", new_request(*request));
  LEAVE(MPI_Isend);
}
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  ENTER();
  CALL(MPI_Irecv, (buffer, count, type, source, tag, comm, request));
  fprintf(out, "int count=%d\n", count);
  put_type("datatype", type);
  put_source("source", source);
  put_tag("tag", tag);
  put_comm("comm", comm);
  fprintf(out, "MPI_Request request=[%d]\n", new_request(*request));
  LEAVE(MPI_Irecv);
}
int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  ENTER();
  MPI_Status own;
  MPI_Status* const at = status == MPI_STATUS_IGNORE ? &own : status;
  CALL(MPI_Recv, (buffer, count, type, source, tag, comm, at));
  fprintf(out, "int count=%d\n", count);
  put_type("datatype", type);
  put_source("source", source);
  put_tag("tag", tag);
  put_comm("comm", comm);
  put_statuses("status", 1, at, 0);
  LEAVE(MPI_Recv);
}
int MPI_Sendrecv(const void* sent, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* got,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  ENTER();
  MPI_Status own;
  MPI_Status* const at = status == MPI_STATUS_IGNORE ? &own : status;
  CALL(MPI_Sendrecv, (sent, sendcount, sendtype, dest, sendtag, got, recvcount, recvtype, source, recvtag, comm, at));
  fprintf(out, "int sendcount=%d\n", sendcount);
  put_type("sendtype", sendtype);
  fprintf(out, "int dest=%d\n", dest);
  put_tag("sendtag", sendtag);
  fprintf(out, "int recvcount=%d\n", recvcount);
  put_type("recvtype", recvtype);
  put_source("source", source);
  put_tag("recvtag", recvtag);
  put_comm("comm", comm);
  put_statuses("status", 1, at, 0);
  LEAVE(MPI_Sendrecv);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ENTER();
  MPI_Status own;
  MPI_Status* const at = status == MPI_STATUS_IGNORE ? &own : status;
  const int number = request_number(*request);
  CALL(MPI_Wait, (request, at));
  fprintf(out, "MPI_Request request=[%d]\n", number);
  put_statuses("status", 1, at, 0);
  forget(number);
  LEAVE(MPI_Wait);
}
int MPI_Waitall(int count, MPI_Request* all, MPI_Status* statuses) {
  ENTER();
  MPI_Status own[MOST];
  int numbers[MOST];
  MPI_Status* const at = statuses == MPI_STATUSES_IGNORE ? own : statuses;
  for (int i = 0; i < count; ++i) numbers[i] = request_number(all[i]);
  CALL(MPI_Waitall, (count, all, at));
  fprintf(out, "int count=%d\nMPI_Request requests[%d]=[", count, count);
  for (int i = 0; i < count; ++i) fprintf(out, "%s%d", i ? ", " : "", numbers[i]);
  fprintf(out, "]\n");
  put_statuses("statuses", count, at, 1);
  for (int i = 0; i < count; ++i) forget(numbers[i]);
  LEAVE(MPI_Waitall);
}
int MPI_Waitany(int count, MPI_Request* all, int* index, MPI_Status* status) {
  ENTER();
  MPI_Status own;
  int numbers[MOST];
  MPI_Status* const at = status == MPI_STATUS_IGNORE ? &own : status;
  for (int i = 0; i < count; ++i) numbers[i] = request_number(all[i]);
  CALL(MPI_Waitany, (count, all, index, at));
  fprintf(out, "int count=%d\nMPI_Request requests[%d]=[", count, count);
  for (int i = 0; i < count; ++i) fprintf(out, "%s%d", i ? ", " : "", numbers[i]);
  fprintf(out, "]\nint index=%d\n", *index);
  put_statuses("status", 1, at, 0);
  if (*index >= 0 && *index < count) forget(numbers[*index]);
  LEAVE(MPI_Waitany);
}
int MPI_Barrier(MPI_Comm comm) {
  ENTER();
  CALL(MPI_Barrier, (comm));
  put_comm("comm", comm);
  LEAVE(MPI_Barrier);
}
int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ENTER();
  CALL(MPI_Bcast, (buffer, count, type, root, comm));
  fprintf(out, "int count=%d\n", count);
  put_type("datatype", type);
  fprintf(out, "int root=%d\n", root);
  put_comm("comm", comm);
  LEAVE(MPI_Bcast);
}
int MPI_Reduce(const void* sent, void* got, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  ENTER();
  CALL(MPI_Reduce, (sent, got, count, type, op, root, comm));
  fprintf(out, "int count=%d\n", count);
  put_type("datatype", type);
  fprintf(out, "MPI_Op op=3 (MPI_SUM)\nint root=%d\n", root);
  put_comm("comm", comm);
  LEAVE(MPI_Reduce);
}
#define REDUCES(function)                                                                             \
  int function(const void* sent, void* got, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) { \
    ENTER();                                                                                          \
    CALL(function, (sent, got, count, type, op, comm));                                               \
    fprintf(out, "int count=%d\n", count);                                                            \
    put_type("datatype", type);                                                                       \
    fprintf(out, "MPI_Op op=3 (MPI_SUM)\n");                                                          \
    put_comm("comm", comm);                                                                           \
    LEAVE(function);                                                                                  \
  }
REDUCES(MPI_Allreduce)
REDUCES(MPI_Scan)
static int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}
static int size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}
#define ROOTED(function)                                                                         \
  int function(const void* sent, int sendcount, MPI_Datatype sendtype, void* got, int recvcount, \
               MPI_Datatype recvtype, int root, MPI_Comm comm) {                                 \
    ENTER();                                                                                     \
    CALL(function, (sent, sendcount, sendtype, got, recvcount, recvtype, root, comm));           \
    fprintf(out, "int commrank=%d\nint sendcount=%d\n", rank_in(comm), sendcount);               \
    put_type("sendtype", sendtype);                                                              \
    fprintf(out, "int recvcount=%d\n", recvcount);                                               \
    put_type("recvtype", recvtype);                                                              \
    fprintf(out, "int root=%d\n", root);                                                         \
    put_comm("comm", comm);                                                                      \
    LEAVE(function);                                                                             \
  }
ROOTED(MPI_Gather)
ROOTED(MPI_Scatter)
#define EACH_TO_ALL(function)                                                                    \
  int function(const void* sent, int sendcount, MPI_Datatype sendtype, void* got, int recvcount, \
               MPI_Datatype recvtype, MPI_Comm comm) {                                           \
    ENTER();                                                                                     \
    CALL(function, (sent, sendcount, sendtype, got, recvcount, recvtype, comm));                 \
    fprintf(out, "int sendcount=%d\n", sendcount);                                               \
    put_type("sendtype", sendtype);                                                              \
    fprintf(out, "int recvcount=%d\n", recvcount);                                               \
    put_type("recvtype", recvtype);                                                              \
    put_comm("comm", comm);                                                                      \
    LEAVE(function);                                                                             \
  }
EACH_TO_ALL(MPI_Allgather)
EACH_TO_ALL(MPI_Alltoall)
int MPI_Gatherv(const void* sent, int sendcount, MPI_Datatype sendtype, void* got, const int* recvcounts,
                const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  ENTER();
  CALL(MPI_Gatherv, (sent, sendcount, sendtype, got, recvcounts, displs, recvtype, root, comm));
  const int members = rank_in(comm) == root ? size_of(comm) : 0;
  fprintf(out, "int commrank=%d\nint commsize=%d\nint sendcount=%d\n", rank_in(comm), size_of(comm), sendcount);
  put_type("sendtype", sendtype);
  put_ints("recvcounts", recvcounts, members);
  put_ints("displs", displs, members);
  put_type("recvtype", recvtype);
  fprintf(out, "int root=%d\n", root);
  put_comm("comm", comm);
  LEAVE(MPI_Gatherv);
}
int MPI_Scatterv(const void* sent, const int* sendcounts, const int* displs, MPI_Datatype sendtype, void* got,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  ENTER();
  CALL(MPI_Scatterv, (sent, sendcounts, displs, sendtype, got, recvcount, recvtype, root, comm));
  const int members = rank_in(comm) == root ? size_of(comm) : 0;
  fprintf(out, "int commrank=%d\nint commsize=%d\n", rank_in(comm), size_of(comm));
  put_ints("sendcounts", sendcounts, members);
  put_ints("displs", displs, members);
  put_type("sendtype", sendtype);
  fprintf(out, "int recvcount=%d\n", recvcount);
  put_type("recvtype", recvtype);
  fprintf(out, "int root=%d\n", root);
  put_comm("comm", comm);
  LEAVE(MPI_Scatterv);
}
int MPI_Allgatherv(const void* sent, int sendcount, MPI_Datatype sendtype, void* got, const int* recvcounts,
                   const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  ENTER();
  CALL(MPI_Allgatherv, (sent, sendcount, sendtype, got, recvcounts, displs, recvtype, comm));
  fprintf(out, "int commsize=%d\nint sendcount=%d\n", size_of(comm), sendcount);
  put_type("sendtype", sendtype);
  put_ints("recvcounts", recvcounts, size_of(comm));
  put_ints("displs", displs, size_of(comm));
  put_type("recvtype", recvtype);
  put_comm("comm", comm);
  LEAVE(MPI_Allgatherv);
}
int MPI_Alltoallv(const void* sent, const int* sendcounts, const int* senddispls, MPI_Datatype sendtype, void* got,
                  const int* recvcounts, const int* recvdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  ENTER();
  CALL(MPI_Alltoallv, (sent, sendcounts, senddispls, sendtype, got, recvcounts, recvdispls, recvtype, comm));
  fprintf(out, "int commsize=%d\n", size_of(comm));
  put_ints("sendcounts", sendcounts, size_of(comm));
  put_ints("senddispls", senddispls, size_of(comm));
  put_type("sendtype", sendtype);
  put_ints("recvcounts", recvcounts, size_of(comm));
  put_ints("recvdispls", recvdispls, size_of(comm));
  put_type("recvtype", recvtype);
  put_comm("comm", comm);
  LEAVE(MPI_Alltoallv);
}
int MPI_Reduce_scatter(const void* sent, void* got, const int* recvcounts, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm) {
  ENTER();
  CALL(MPI_Reduce_scatter, (sent, got, recvcounts, type, op, comm));
  fprintf(out, "int commsize=%d\n", size_of(comm));
  put_ints("recvcounts", recvcounts, size_of(comm));
  put_type("datatype", type);
  fprintf(out, "MPI_Op op=3 (MPI_SUM)\n");
  put_comm("comm", comm);
  LEAVE(MPI_Reduce_scatter);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  ENTER();
  CALL(MPI_Comm_dup, (comm, made));
  put_comm("oldcomm", comm);
  put_comm("newcomm", *made);
  LEAVE(MPI_Comm_dup);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  ENTER();
  CALL(MPI_Comm_split, (comm, color, key, made));
  put_comm("oldcomm", comm);
  fprintf(out, "int color=%d\nint key=%d\n", color, key);
  put_comm("newcomm", *made);
  LEAVE(MPI_Comm_split);
}
int MPI_Comm_free(MPI_Comm* comm) {
  ENTER();
  const int number = comm_number(*comm);
  CALL(MPI_Comm_free, (comm));
  fprintf(out, "MPI_Comm comm=%d (user-defined-comm)\n", number);
  if (number > 3) comms[number - 4] = MPI_COMM_NULL;
  LEAVE(MPI_Comm_free);
}
int MPI_Cart_create(MPI_Comm comm, int ndim, const int* dims, const int* periods, int reorder, MPI_Comm* made) {
  ENTER();
  CALL(MPI_Cart_create, (comm, ndim, dims, periods, reorder, made));
  put_comm("oldcomm", comm);
  fprintf(out, "int ndim=%d\n", ndim);
  put_ints("dims", dims, ndim);
  put_ints("periods", periods, ndim);
  fprintf(out, "int reorder=%d\n", reorder);
  put_comm("newcomm", *made);
  LEAVE(MPI_Cart_create);
}
int MPI_Cart_sub(MPI_Comm comm, const int* remains, MPI_Comm* made) {
  ENTER();
  CALL(MPI_Cart_sub, (comm, remains, made));
  int ndim = 0;
  PMPI_Cartdim_get(comm, &ndim);
  fprintf(out, "int ndim=%d\n", ndim);
  put_comm("oldcomm", comm);
  put_ints("remain_dims", remains, ndim);
  put_comm("newcomm", *made);
  LEAVE(MPI_Cart_sub);
}
