/* Calls with wrong arguments: MPI says what is wrong, in the same way with and without replication. Rank 0 prints the
 * class of each call's error; every call is made by all ranks, with errors returned. */
#include "scenarios.h"

static MPI_Comm comm; /* a copy of the world that returns errors */
static int buffer[64], other[64];
static int counts[16], places[16];
static int none; /* a count that is none */
static MPI_Datatype types[16];
static MPI_Request request;
static MPI_Status status;
static MPI_Message message;
static int flag, number;

static void show(const char* call, int code) {
  int class = MPI_SUCCESS, length;
  char text[MPI_MAX_ERROR_STRING];
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  MPI_Error_string(class, text, &length);
  if (rank == 0) printf("%s: %s\n", call, class == MPI_SUCCESS ? "success" : text);
  fflush(stdout);
}
#define TRY(call) show(#call, call)

/* A request is null after a call that failed, or the call made one, which it should not have. */
#define TRY_START(call)                                                     \
  do {                                                                      \
    request = MPI_REQUEST_NULL;                                             \
    TRY(call);                                                              \
    if (request != MPI_REQUEST_NULL && rank == 0) puts("  made a request"); \
    if (request != MPI_REQUEST_NULL) {                                      \
      MPI_Request_free(&request);                                           \
    }                                                                       \
  } while (0)

static void completion(void) {
  MPI_Request nulls[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index, indices[2];
  request = MPI_REQUEST_NULL;
  TRY(MPI_Cancel(&request));
  TRY(MPI_Request_free(&request));
  TRY(MPI_Start(&request));
  TRY(MPI_Startall(2, nulls));
  TRY(MPI_Startall(-1, nulls));
  TRY(MPI_Wait(&request, &status));
  TRY(MPI_Test(&request, &flag, &status));
  TRY(MPI_Waitall(-1, nulls, MPI_STATUSES_IGNORE));
  TRY(MPI_Waitany(-1, nulls, &index, &status));
  TRY(MPI_Waitsome(-1, nulls, &index, indices, MPI_STATUSES_IGNORE));
  TRY(MPI_Testall(-1, nulls, &flag, MPI_STATUSES_IGNORE));
  TRY(MPI_Testany(-1, nulls, &index, &flag, &status));
  TRY(MPI_Testsome(-1, nulls, &index, indices, MPI_STATUSES_IGNORE));
  TRY(MPI_Waitany(2, nulls, &index, &status));
  TRY(MPI_Testany(2, nulls, &index, &flag, &status));
  TRY(MPI_Request_get_status(request, &flag, &status));
  TRY(MPI_Test_cancelled(&status, &flag));
  TRY(MPI_Grequest_complete(request));

  /* Not a persistent one, an active one, one twice. */
  MPI_Irecv(buffer, 1, MPI_INT, rank, 5, comm, &request);
  TRY(MPI_Start(&request));
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#ifdef MPICH /* Open MPI takes these, and falls over them */
  MPI_Recv_init(buffer, 1, MPI_INT, rank, 5, comm, &request);
  MPI_Start(&request);
  TRY(MPI_Start(&request));
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  TRY(MPI_Cancel(&request)); /* inactive */
  MPI_Request_free(&request);
  MPI_Send_init(buffer, 1, MPI_INT, rank, 5, comm, &request);
  TRY(MPI_Cancel(&request));
  MPI_Request_free(&request);
#endif
}

static void sends(void) {
  TRY(MPI_Send(buffer, none, MPI_INT, 0, 0, comm));
  TRY(MPI_Send(buffer, 1, MPI_DATATYPE_NULL, 0, 0, comm));
  TRY(MPI_Send(buffer, 1, MPI_INT, ranks, 0, comm));
  TRY(MPI_Send(buffer, 1, MPI_INT, -7, 0, comm));
  TRY(MPI_Send(buffer, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm));
  TRY(MPI_Send(buffer, 1, MPI_INT, 0, -7, comm));
  TRY(MPI_Send(buffer, 1, MPI_INT, 0, MPI_ANY_TAG, comm));
  TRY(MPI_Send(buffer, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
  TRY(MPI_Ssend(buffer, none, MPI_INT, 0, 0, comm));
  TRY(MPI_Rsend(buffer, 1, MPI_INT, ranks, 0, comm));
  TRY(MPI_Bsend(buffer, 1, MPI_INT, 0, -7, comm));
  TRY_START(MPI_Isend(buffer, none, MPI_INT, 0, 0, comm, &request));
  TRY_START(MPI_Isend(buffer, 1, MPI_INT, ranks, 0, comm, &request));
  TRY_START(MPI_Isend(buffer, 1, MPI_INT, 0, -7, comm, &request));
  TRY_START(MPI_Issend(buffer, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request));
  TRY_START(MPI_Irsend(buffer, 1, MPI_INT, -7, 0, comm, &request));
  TRY_START(MPI_Ibsend(buffer, 1, MPI_INT, ranks, 0, comm, &request));
  TRY_START(MPI_Isend(buffer, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request));
  TRY_START(MPI_Send_init(buffer, none, MPI_INT, 0, 0, comm, &request));
  TRY_START(MPI_Send_init(buffer, 1, MPI_INT, ranks, 0, comm, &request));
  TRY_START(MPI_Ssend_init(buffer, 1, MPI_INT, 0, -7, comm, &request));
  TRY_START(MPI_Bsend_init(buffer, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request));
  TRY_START(MPI_Rsend_init(buffer, 1, MPI_INT, -7, 0, comm, &request));
  TRY_START(MPI_Send_init(buffer, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request));
}

static void receives(void) {
  TRY(MPI_Recv(buffer, none, MPI_INT, 0, 0, comm, &status));
  TRY(MPI_Recv(buffer, 1, MPI_DATATYPE_NULL, 0, 0, comm, &status));
  TRY(MPI_Recv(buffer, 1, MPI_INT, ranks, 0, comm, &status));
  TRY(MPI_Recv(buffer, 1, MPI_INT, -7, 0, comm, &status));
  TRY(MPI_Recv(buffer, 1, MPI_INT, 0, -7, comm, &status));
  TRY(MPI_Recv(buffer, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &status));
  TRY_START(MPI_Irecv(buffer, none, MPI_INT, 0, 0, comm, &request));
  TRY_START(MPI_Irecv(buffer, 1, MPI_INT, ranks, 0, comm, &request));
  TRY_START(MPI_Irecv(buffer, 1, MPI_INT, 0, -7, comm, &request));
  TRY_START(MPI_Irecv(buffer, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request));
  TRY_START(MPI_Recv_init(buffer, none, MPI_INT, 0, 0, comm, &request));
  TRY_START(MPI_Recv_init(buffer, 1, MPI_INT, -7, 0, comm, &request));
  TRY_START(MPI_Recv_init(buffer, 1, MPI_INT, 0, -7, comm, &request));
  TRY_START(MPI_Recv_init(buffer, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request));
  TRY(MPI_Probe(ranks, 0, comm, &status));
  TRY(MPI_Probe(0, -7, comm, &status));
  TRY(MPI_Iprobe(-7, 0, comm, &flag, &status));
  TRY(MPI_Iprobe(0, -7, comm, &flag, &status));
  TRY(MPI_Mprobe(ranks, 0, comm, &message, &status));
  TRY(MPI_Improbe(0, -7, comm, &flag, &message, &status));
#ifndef OPEN_MPI /* ends the program, whatever the error handlers are */
  message = MPI_MESSAGE_NULL;
  TRY(MPI_Mrecv(buffer, 1, MPI_INT, &message, &status));
  TRY_START(MPI_Imrecv(buffer, 1, MPI_INT, &message, &request));
#endif
  TRY(MPI_Sendrecv(buffer, none, MPI_INT, rank, 0, other, 1, MPI_INT, rank, 0, comm, &status));
  TRY(MPI_Sendrecv(buffer, 1, MPI_INT, rank, 0, other, none, MPI_INT, rank, 0, comm, &status));
  TRY(MPI_Sendrecv(buffer, 1, MPI_INT, ranks, 0, other, 1, MPI_INT, rank, 0, comm, &status));
  TRY(MPI_Sendrecv(buffer, 1, MPI_INT, rank, 0, other, 1, MPI_INT, -7, 0, comm, &status));
  TRY(MPI_Sendrecv_replace(buffer, none, MPI_INT, rank, 0, rank, 0, comm, &status));
  TRY(MPI_Sendrecv_replace(buffer, 1, MPI_INT, ranks, 0, rank, 0, comm, &status));
  TRY(MPI_Sendrecv_replace(buffer, 1, MPI_INT, rank, -7, rank, 0, comm, &status));
  TRY(MPI_Get_count(&status, MPI_DATATYPE_NULL, &number));
}

static void collectives(void) {
  TRY(MPI_Barrier(MPI_COMM_NULL));
  TRY(MPI_Bcast(buffer, none, MPI_INT, 0, comm));
  TRY(MPI_Bcast(buffer, 1, MPI_INT, ranks, comm));
  TRY(MPI_Bcast(buffer, 1, MPI_INT, -7, comm));
  TRY(MPI_Bcast(buffer, 1, MPI_DATATYPE_NULL, 0, comm));
  TRY(MPI_Bcast(buffer, 1, MPI_INT, 0, MPI_COMM_NULL));
  TRY(MPI_Gather(buffer, 1, MPI_INT, other, 1, MPI_INT, ranks, comm));
  TRY(MPI_Gather(buffer, none, MPI_INT, other, none, MPI_INT, 0, comm));
  TRY(MPI_Gatherv(buffer, 1, MPI_INT, other, counts, places, MPI_INT, -7, comm));
  TRY(MPI_Scatter(buffer, 1, MPI_INT, other, 1, MPI_INT, ranks, comm));
  TRY(MPI_Scatterv(buffer, counts, places, MPI_INT, other, 1, MPI_INT, -7, comm));
  TRY(MPI_Allgather(buffer, none, MPI_INT, other, none, MPI_INT, comm));
  TRY(MPI_Allgather(buffer, 1, MPI_DATATYPE_NULL, other, 1, MPI_DATATYPE_NULL, comm));
  TRY(MPI_Allgatherv(buffer, none, MPI_INT, other, counts, places, MPI_INT, comm));
  TRY(MPI_Alltoall(buffer, none, MPI_INT, other, none, MPI_INT, comm));
  TRY(MPI_Alltoallv(buffer, counts, places, MPI_DATATYPE_NULL, other, counts, places, MPI_DATATYPE_NULL, comm));
  TRY(MPI_Alltoallw(buffer, counts, places, types, other, counts, places, types, comm));
  TRY(MPI_Reduce(buffer, other, 1, MPI_INT, MPI_SUM, ranks, comm));
  TRY(MPI_Reduce(buffer, other, 1, MPI_INT, MPI_OP_NULL, 0, comm));
  TRY(MPI_Allreduce(buffer, other, 1, MPI_INT, MPI_OP_NULL, comm));
  TRY(MPI_Allreduce(buffer, other, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
  TRY(MPI_Scan(buffer, other, 1, MPI_INT, MPI_OP_NULL, comm));
  TRY(MPI_Reduce_local(buffer, other, 1, MPI_INT, MPI_OP_NULL));
  TRY_START(MPI_Ibarrier(MPI_COMM_NULL, &request));
  TRY_START(MPI_Ibcast(buffer, none, MPI_INT, 0, comm, &request));
  TRY_START(MPI_Ibcast(buffer, 1, MPI_INT, ranks, comm, &request));
  TRY_START(MPI_Igather(buffer, 1, MPI_INT, other, 1, MPI_INT, ranks, comm, &request));
  TRY_START(MPI_Iscatter(buffer, 1, MPI_INT, other, 1, MPI_INT, -7, comm, &request));
  TRY_START(MPI_Iallgather(buffer, none, MPI_INT, other, none, MPI_INT, comm, &request));
  TRY_START(MPI_Ialltoall(buffer, none, MPI_INT, other, none, MPI_INT, comm, &request));
  TRY_START(MPI_Ireduce(buffer, other, 1, MPI_INT, MPI_OP_NULL, 0, comm, &request));
  TRY_START(MPI_Iscan(buffer, other, 1, MPI_INT, MPI_OP_NULL, comm, &request));
}

static void communicators(void) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  const int periods[1] = {0}, dims[1] = {1000}, twice[2] = {0, 0};
  TRY(MPI_Comm_rank(MPI_COMM_NULL, &number));
  TRY(MPI_Comm_size(MPI_COMM_NULL, &number));
  TRY(MPI_Comm_dup(MPI_COMM_NULL, &made));
  TRY_START(MPI_Comm_idup(MPI_COMM_NULL, &made, &request));
  TRY(MPI_Comm_split(comm, -7, 0, &made));
  TRY(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &made));
  TRY(MPI_Comm_split_type(comm, -7, 0, MPI_INFO_NULL, &made));
  TRY(MPI_Comm_create(comm, group, &made));
  TRY(MPI_Comm_create_group(comm, group, 0, &made));
  TRY(MPI_Comm_free(&made));
  TRY(MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD}));
  TRY(MPI_Comm_free(&(MPI_Comm){MPI_COMM_SELF}));
  TRY(MPI_Comm_group(MPI_COMM_NULL, &group));
  TRY(MPI_Comm_compare(comm, MPI_COMM_NULL, &number));
  TRY(MPI_Comm_remote_size(comm, &number));
  TRY(MPI_Cart_create(comm, 1, dims, periods, 0, &made));
  TRY(MPI_Cart_create(comm, -1, dims, periods, 0, &made));
  TRY(MPI_Graph_create(comm, -1, dims, twice, 0, &made));
  TRY(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN));
  TRY(MPI_Comm_set_errhandler(comm, MPI_ERRHANDLER_NULL));
  TRY(MPI_Comm_call_errhandler(comm, MPI_ERR_ARG));
  TRY(MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_ARG));
  TRY(MPI_Comm_set_attr(comm, MPI_KEYVAL_INVALID, NULL));
  TRY(MPI_Comm_get_attr(comm, MPI_KEYVAL_INVALID, &made, &flag));
  TRY(MPI_Comm_delete_attr(comm, MPI_KEYVAL_INVALID));
  TRY(MPI_Comm_set_name(MPI_COMM_NULL, "name"));
}

static void objects(void) {
  MPI_Op operation = MPI_OP_NULL;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  TRY(MPI_Op_free(&operation));
  operation = MPI_SUM;
  TRY(MPI_Op_free(&operation));
  TRY(MPI_Op_commutative(MPI_OP_NULL, &flag));
  TRY(MPI_Errhandler_free(&handler));
  TRY(MPI_Group_free(&group));
  TRY(MPI_Info_free(&info));
  TRY(MPI_Type_free(&type));
  type = MPI_INT;
  TRY(MPI_Type_free(&type));
  TRY(MPI_Type_commit(&(MPI_Datatype){MPI_DATATYPE_NULL}));
  TRY(MPI_Type_contiguous(-1, MPI_INT, &type));
  TRY(MPI_Type_vector(1, -1, 1, MPI_INT, &type));
  TRY(MPI_Type_size(MPI_DATATYPE_NULL, &number));
  TRY(MPI_Pack(buffer, none, MPI_INT, other, 4, &number, comm));
  TRY(MPI_Unpack(buffer, 4, &number, other, 1, MPI_DATATYPE_NULL, comm));
  TRY(MPI_Pack_size(none, MPI_INT, comm, &number));
}

static void files(void) {
  MPI_File file = MPI_FILE_NULL;
  MPI_Offset offset = 0;
  char name[200];
  snprintf(name, sizeof name, "erroneous-%d", rank);
  TRY(MPI_File_open(MPI_COMM_NULL, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  TRY(MPI_File_open(MPI_COMM_SELF, "no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  TRY(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  TRY(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  TRY(MPI_File_delete("no/such/file", MPI_INFO_NULL));
  TRY(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  TRY(MPI_File_read(file, buffer, 1, MPI_INT, &status));
  TRY(MPI_File_read_at(file, 0, buffer, 1, MPI_INT, &status));
  TRY(MPI_File_write(file, buffer, none, MPI_INT, &status));
  TRY(MPI_File_write_at(file, -7, buffer, 1, MPI_INT, &status));
  TRY(MPI_File_write_at(file, 0, buffer, 1, MPI_DATATYPE_NULL, &status));
  TRY(MPI_File_write_all(file, buffer, none, MPI_INT, &status));
  TRY(MPI_File_seek(file, -7, MPI_SEEK_SET));
  TRY(MPI_File_seek(file, 0, 12345));
  TRY(MPI_File_set_size(file, -7));
  TRY(MPI_File_preallocate(file, -7));
  TRY(MPI_File_set_view(file, -7, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  TRY(MPI_File_set_view(file, 0, MPI_DATATYPE_NULL, MPI_INT, "native", MPI_INFO_NULL));
  TRY(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such thing", MPI_INFO_NULL));
  TRY(MPI_File_get_byte_offset(file, -7, &offset));
  TRY(MPI_File_close(&file));
  TRY(MPI_File_close(&file));
  TRY(MPI_File_delete(name, MPI_INFO_NULL));
}

static void windows(void) {
  MPI_Win window = MPI_WIN_NULL;
  void* memory;
  TRY(MPI_Win_free(&window));
  TRY(MPI_Win_fence(0, window));
  TRY(MPI_Win_create(buffer, -7, 1, MPI_INFO_NULL, comm, &window));
  TRY(MPI_Win_create(buffer, sizeof buffer, -7, MPI_INFO_NULL, comm, &window));
  TRY(MPI_Win_create(buffer, sizeof buffer, 1, MPI_INFO_NULL, MPI_COMM_NULL, &window));
  TRY(MPI_Win_allocate(-7, 1, MPI_INFO_NULL, comm, &memory, &window));
  TRY(MPI_Win_create(buffer, sizeof buffer, sizeof *buffer, MPI_INFO_NULL, comm, &window));
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  TRY(MPI_Put(other, 1, MPI_INT, 0, 0, 1, MPI_INT, window)); /* outside any epoch */
  MPI_Win_fence(0, window);
  TRY(MPI_Put(other, none, MPI_INT, 0, 0, 1, MPI_INT, window));
  TRY(MPI_Put(other, 1, MPI_INT, ranks, 0, 1, MPI_INT, window));
  TRY(MPI_Put(other, 1, MPI_INT, 0, -7, 1, MPI_INT, window));
  TRY(MPI_Get(other, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, window));
  TRY(MPI_Accumulate(other, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, window));
  TRY(MPI_Fetch_and_op(other, buffer, MPI_INT, ranks, 0, MPI_SUM, window));
  MPI_Win_fence(0, window);
  TRY(MPI_Win_lock(12345, 0, 0, window));
  TRY(MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, window));
  TRY(MPI_Win_unlock(0, window));
  TRY(MPI_Win_complete(window));
  TRY(MPI_Win_wait(window));
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  none = -1;
  for (int i = 0; i < 16; ++i) counts[i] = -1, types[i] = MPI_DATATYPE_NULL;
  const struct Scenario scenarios[] = {
      {"completion", completion},       {"sends", sends},     {"receives", receives}, {"collectives", collectives},
      {"communicators", communicators}, {"objects", objects}, {"files", files},       {"windows", windows},
  };
  const int code = run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return code;
}
