/* Which messages Open MPI 4.1 sends in each collective: prints, for every operation and size, 'operation bytes root
 * ranks', and the messages and bytes from each rank to each other. All of its messages go through three functions of
 * mca_pml, the table of its point-to-point layer, where they are counted (as its own monitoring component does, which
 * Debian's build does not offer). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static size_t* sent[2]; /* messages and bytes, by receiver */
static int counting;

typedef int (*isend_fn)(const void*, size_t, MPI_Datatype, int, int, int, MPI_Comm, MPI_Request*);
typedef int (*isend_init_fn)(const void*, size_t, MPI_Datatype, int, int, int, MPI_Comm, MPI_Request*);
typedef int (*send_fn)(const void*, size_t, MPI_Datatype, int, int, int, MPI_Comm);
static isend_fn real_isend;
static isend_init_fn real_isend_init;
static send_fn real_send;

static void count_message(size_t count, MPI_Datatype type, int to) {
  int bytes = 0;
  if (!counting) return;
  MPI_Type_size(type, &bytes);
  sent[0][to] += 1;
  sent[1][to] += count * (size_t)bytes;
}

static int counting_isend(const void* buffer, size_t count, MPI_Datatype type, int to, int tag, int mode, MPI_Comm comm,
                          MPI_Request* request) {
  count_message(count, type, to);
  return real_isend(buffer, count, type, to, tag, mode, comm, request);
}

/* Started once. */
static int counting_isend_init(const void* buffer, size_t count, MPI_Datatype type, int to, int tag, int mode,
                               MPI_Comm comm, MPI_Request* request) {
  count_message(count, type, to);
  return real_isend_init(buffer, count, type, to, tag, mode, comm, request);
}

static int counting_send(const void* buffer, size_t count, MPI_Datatype type, int to, int tag, int mode,
                         MPI_Comm comm) {
  count_message(count, type, to);
  return real_send(buffer, count, type, to, tag, mode, comm);
}

/* mca_pml_base_module_2_0_0_t (ompi/mca/pml/pml.h): add_procs, del_procs, enable, progress, add_comm, del_comm,
 * irecv_init, irecv, recv, isend_init, isend, send, ...; Open MPI 5 has revoke_comm after del_comm. */
enum { isend_init_at = OMPI_MAJOR_VERSION >= 5 ? 10 : 9, isend_at, send_at };

static void stand_before_messages(void) {
  void** table = dlsym(RTLD_DEFAULT, "mca_pml");
  if (table == NULL) {
    fprintf(stderr, "this MPI has no mca_pml\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  real_isend_init = (isend_init_fn)table[isend_init_at];
  real_isend = (isend_fn)table[isend_at];
  real_send = (send_fn)table[send_at];
  table[isend_init_at] = (void*)counting_isend_init;
  table[isend_at] = (void*)counting_isend;
  table[send_at] = (void*)counting_send;
}

static MPI_Datatype type_of(long bytes, int* count) {
  if (bytes % 8 == 0) return *count = (int)(bytes / 8), MPI_INT64_T;
  if (bytes % 4 == 0) return *count = (int)(bytes / 4), MPI_INT32_T;
  if (bytes % 2 == 0) return *count = (int)(bytes / 2), MPI_INT16_T;
  return *count = (int)bytes, MPI_INT8_T;
}

static void collective(const char* name, long bytes, int root, char* in, char* out) {
  int count = 0;
  MPI_Datatype type = type_of(bytes, &count);
  int *to = calloc((size_t)size, sizeof *to), *from = calloc((size_t)size, sizeof *from);
  int *at = calloc((size_t)size, sizeof *at), *from_at = calloc((size_t)size, sizeof *from_at);
  const int varies = !strcmp(name, "alltoallv");
  for (int i = 0; i < size; ++i) {
    to[i] = varies ? count * ((rank + 2 * i) % 3) : count * (i % 3);
    from[i] = varies ? count * ((i + 2 * rank) % 3) : count * (i % 3);
    if (i > 0) at[i] = at[i - 1] + to[i - 1];
    if (i > 0) from_at[i] = from_at[i - 1] + from[i - 1];
  }
  MPI_Request request = MPI_REQUEST_NULL;
  if (!strcmp(name, "barrier")) MPI_Barrier(MPI_COMM_WORLD);
  if (!strcmp(name, "bcast")) MPI_Bcast(in, count, type, root, MPI_COMM_WORLD);
  if (!strcmp(name, "gather")) MPI_Gather(in, count, type, out, count, type, root, MPI_COMM_WORLD);
  if (!strcmp(name, "scatter")) MPI_Scatter(in, count, type, out, count, type, root, MPI_COMM_WORLD);
  if (!strcmp(name, "gatherv")) MPI_Gatherv(in, to[rank], type, out, to, at, type, root, MPI_COMM_WORLD);
  if (!strcmp(name, "scatterv")) MPI_Scatterv(in, to, at, type, out, to[rank], type, root, MPI_COMM_WORLD);
  if (!strcmp(name, "allgather")) MPI_Allgather(in, count, type, out, count, type, MPI_COMM_WORLD);
  if (!strcmp(name, "allgatherv")) MPI_Allgatherv(in, to[rank], type, out, to, at, type, MPI_COMM_WORLD);
  if (!strcmp(name, "alltoall")) MPI_Alltoall(in, count, type, out, count, type, MPI_COMM_WORLD);
  if (varies) MPI_Alltoallv(in, to, at, type, out, from, from_at, type, MPI_COMM_WORLD);
  if (!strcmp(name, "reduce")) MPI_Reduce(in, out, count, type, MPI_SUM, root, MPI_COMM_WORLD);
  if (!strcmp(name, "allreduce")) MPI_Allreduce(in, out, count, type, MPI_SUM, MPI_COMM_WORLD);
  if (!strcmp(name, "scan")) MPI_Scan(in, out, count, type, MPI_SUM, MPI_COMM_WORLD);
  if (!strcmp(name, "exscan")) MPI_Exscan(in, out, count, type, MPI_SUM, MPI_COMM_WORLD);
  if (!strcmp(name, "reduce_scatter")) MPI_Reduce_scatter(in, out, to, type, MPI_SUM, MPI_COMM_WORLD);
  if (!strcmp(name, "reduce_scatter_block")) MPI_Reduce_scatter_block(in, out, count, type, MPI_SUM, MPI_COMM_WORLD);
  if (!strcmp(name, "ibarrier")) MPI_Ibarrier(MPI_COMM_WORLD, &request);
  if (!strcmp(name, "ibcast")) MPI_Ibcast(in, count, type, root, MPI_COMM_WORLD, &request);
  if (!strcmp(name, "ireduce")) MPI_Ireduce(in, out, count, type, MPI_SUM, root, MPI_COMM_WORLD, &request);
  if (!strcmp(name, "iallreduce")) MPI_Iallreduce(in, out, count, type, MPI_SUM, MPI_COMM_WORLD, &request);
  if (!strcmp(name, "iallgather")) MPI_Iallgather(in, count, type, out, count, type, MPI_COMM_WORLD, &request);
  if (!strcmp(name, "ialltoall")) MPI_Ialltoall(in, count, type, out, count, type, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(to), free(from), free(at), free(from_at);
}

int main(int argc, char** argv) {
  static const char* names[] = {"barrier",    "bcast",     "gather",         "scatter",
                                "gatherv",    "scatterv",  "allgather",      "allgatherv",
                                "alltoall",   "alltoallv", "reduce",         "allreduce",
                                "scan",       "exscan",    "reduce_scatter", "reduce_scatter_block",
                                "ibarrier",   "ibcast",    "ireduce",        "iallreduce",
                                "iallgather", "ialltoall"};
  static const long sizes[] = {4,    8,    16,    48,    64,    128,   256,    512,    1000,   2048,
                               4096, 8192, 12000, 16384, 32768, 65536, 131072, 262144, 524288, 1048576};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long most = argc > 1 ? atol(argv[1]) : 131072;
  const size_t room = (size_t)most * 3 * (size_t)size + 64;
  char *in = calloc(room, 1), *out = calloc(room, 1);
  size_t* all[2];
  for (int i = 0; i < 2; ++i) {
    sent[i] = calloc((size_t)size, sizeof *sent[i]);
    all[i] = calloc((size_t)(size * size), sizeof *all[i]);
  }
  stand_before_messages();
  for (size_t n = 0; n < sizeof names / sizeof *names; ++n)
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
      for (int root = 0; root < size; root += size - 1) {
        const int has_size = strstr(names[n], "barrier") == NULL;
        const int has_root = strstr(names[n], "bcast") || !strcmp(names[n], "reduce") || !strcmp(names[n], "ireduce") ||
                             strstr(names[n], "gather") == names[n] || strstr(names[n], "scatter") == names[n];
        if (argc > 2 && strcmp(names[n], argv[2])) continue;
        if (sizes[s] > most || (!has_size && s > 0) || (!has_root && root > 0)) continue;
        for (int i = 0; i < 2; ++i) memset(sent[i], 0, (size_t)size * sizeof *sent[i]);
        counting = 1;
        collective(names[n], sizes[s], root, in, out);
        counting = 0;
        for (int i = 0; i < 2; ++i)
          MPI_Gather(sent[i], size, MPI_UNSIGNED_LONG, all[i], size, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
        if (rank != 0) continue;
        printf("%s %ld %d %d:", names[n], has_size ? sizes[s] : 0, root, size);
        for (int pair = 0; pair < size * size; ++pair)
          if (all[0][pair] > 0) printf(" %d>%d %zu %zu", pair / size, pair % size, all[0][pair], all[1][pair]);
        printf("\n");
      }
  MPI_Finalize();
  return 0;
}
