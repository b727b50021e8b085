/* Long doubles in every way that data can travel, between memory that was not cleared: x86 leaves 6 of their 16 bytes
 * as they were, and each replica had something else there. The values are the same, so nothing may be reported. */
#include <float.h>
#include <stddef.h>

#include "replica.h"
#include "scenarios.h"

enum { length = 37, value_bytes = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

struct Pair { /* MPI_LONG_DOUBLE_INT */
  long double value;
  int place;
};
struct Particle {
  int number;
  long double at[2];
  char name[3];
};

static int replica, left, right;

/* What was in memory before. */
static void dirty(void* memory, size_t bytes) {
  memset(memory, 0x11 * (replica + 3), bytes);
}
static void set(long double* to, long double value) {
  memcpy(to, &value, value_bytes);
}
static long double number(int of, int i) {
  return of + 1.0L / (i + 3);
}

static void fill(long double* numbers, int n) {
  dirty(numbers, (size_t)n * sizeof *numbers);
  for (int i = 0; i < n; ++i) set(&numbers[i], number(rank, i));
}
static void check(const long double* numbers, int n, int of) {
  for (int i = 0; i < n; ++i) CHECK(numbers[i] == number(of, i));
}

static void messages(void) {
  long double own[length], got[length];
  MPI_Request requests[2];
  fill(own, length);
  dirty(got, sizeof got);
  MPI_Sendrecv(own, length, MPI_LONG_DOUBLE, right, 1, got, length, MPI_LONG_DOUBLE, left, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  check(got, length, left);
  /* Into a longer buffer, from anybody, and in part of a complex. */
  dirty(got, sizeof got);
  MPI_Irecv(got, length, MPI_LONG_DOUBLE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(own, 5, MPI_LONG_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(got, 5, left);
  MPI_Irecv(got, 3, MPI_C_LONG_DOUBLE_COMPLEX, left, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(own, 3, MPI_C_LONG_DOUBLE_COMPLEX, right, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(got, 6, left);
  MPI_Sendrecv_replace(own, length, MPI_LONG_DOUBLE, right, 4, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(own, length, left);
  fill(own, length);
  MPI_Send_init(own, length, MPI_LONG_DOUBLE, right, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(got, length, MPI_LONG_DOUBLE, left, 5, MPI_COMM_WORLD, &requests[1]);
  for (int round = 0; round < 2; ++round) {
    dirty(got, sizeof got);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(got, length, left);
  }
  for (int k = 0; k < 2; ++k) MPI_Request_free(&requests[k]);
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5) /* which has these, and calls itself 3.1 */
  MPI_Isendrecv_replace(own, length, MPI_LONG_DOUBLE, right, 6, left, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  check(own, length, left);
#endif
}

static MPI_Datatype particle_type(void) {
  const int lengths[] = {1, 2, 3};
  const MPI_Aint places[] = {offsetof(struct Particle, number), offsetof(struct Particle, at),
                             offsetof(struct Particle, name)};
  const MPI_Datatype kinds[] = {MPI_INT, MPI_LONG_DOUBLE, MPI_CHAR};
  MPI_Datatype members, whole;
  MPI_Type_create_struct(3, lengths, places, kinds, &members);
  MPI_Type_create_resized(members, 0, sizeof(struct Particle), &whole);
  MPI_Type_commit(&whole);
  MPI_Type_free(&members);
  return whole;
}

static void exchange(const void* own, void* got, MPI_Datatype type, int n, int tag) {
  MPI_Sendrecv(own, n, type, right, tag, got, n, type, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void derived(void) {
  struct Particle out[7], in[7];
  struct Pair pairs[4], got_pairs[4];
  long double own[length], got[length];
  MPI_Datatype particle = particle_type(), column;
  dirty(out, sizeof out);
  dirty(in, sizeof in);
  for (int i = 0; i < 7; ++i) {
    out[i].number = 10 * rank + i;
    memcpy(out[i].name, "abc", 3);
    for (int k = 0; k < 2; ++k) set(&out[i].at[k], number(rank, i + k));
  }
  exchange(out, in, particle, 7, 1);
  for (int i = 0; i < 7; ++i) {
    CHECK(in[i].number == 10 * left + i && memcmp(in[i].name, "abc", 3) == 0);
    CHECK(in[i].at[0] == number(left, i) && in[i].at[1] == number(left, i + 1));
  }
  fill(own, length);
  dirty(got, sizeof got);
  MPI_Type_vector(6, 2, 6, MPI_LONG_DOUBLE, &column);
  MPI_Type_commit(&column);
  exchange(own, got, column, 1, 2);
  for (int i = 0; i < 32; ++i)
    if (i % 6 < 2) CHECK(got[i] == number(left, i));
  MPI_Type_free(&column);
  dirty(pairs, sizeof pairs);
  for (int i = 0; i < 4; ++i) {
    set(&pairs[i].value, number(rank, i));
    pairs[i].place = i;
  }
  exchange(pairs, got_pairs, MPI_LONG_DOUBLE_INT, 4, 3);
  for (int i = 0; i < 4; ++i) CHECK(got_pairs[i].value == number(left, i) && got_pairs[i].place == i);
#if MPI_VERSION >= 4
  /* The same, made with large counts. */
  const MPI_Count lengths[] = {1, 2, 3};
  const MPI_Count places[] = {offsetof(struct Particle, number), offsetof(struct Particle, at),
                              offsetof(struct Particle, name)};
  const MPI_Datatype kinds[] = {MPI_INT, MPI_LONG_DOUBLE, MPI_CHAR};
  MPI_Datatype members, whole, row;
  MPI_Type_create_struct_c(3, lengths, places, kinds, &members);
  MPI_Type_create_resized_c(members, 0, sizeof(struct Particle), &whole);
  MPI_Type_commit(&whole);
  dirty(in, sizeof in);
  exchange(out, in, whole, 7, 4);
  for (int i = 0; i < 7; ++i) CHECK(in[i].number == 10 * left + i && in[i].at[1] == number(left, i + 1));
  MPI_Type_contiguous_c(length, MPI_LONG_DOUBLE, &row);
  MPI_Type_commit(&row);
  dirty(got, sizeof got);
  exchange(own, got, row, 1, 5);
  check(got, length, left);
  MPI_Type_free(&row);
  MPI_Type_free(&whole);
  MPI_Type_free(&members);
#endif
  MPI_Type_free(&particle);
}

static void collectives(void) {
  long double own[length], got[length], *all = malloc((size_t)ranks * sizeof own);
  struct Pair pair, best;
  MPI_Request request;
  int counts[64], places[64];
  fill(own, length);
  dirty(all, (size_t)ranks * sizeof own);
  MPI_Allgather(own, length, MPI_LONG_DOUBLE, all, length, MPI_LONG_DOUBLE, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check(all + r * length, length, r);
  dirty(got, sizeof got);
  MPI_Allreduce(own, got, length, MPI_LONG_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  check(got, length, ranks - 1);
  dirty(got, sizeof got);
  MPI_Reduce(own, got, length, MPI_LONG_DOUBLE, MPI_MIN, 1, MPI_COMM_WORLD);
  if (rank == 1) check(got, length, 0);
  dirty(got, sizeof got);
  MPI_Iallreduce(own, got, length, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < length; ++i) {
    const long double more = got[i] - ranks * number(0, i) - ranks * (ranks - 1) / 2;
    CHECK(more < 1e-12L && more > -1e-12L);
  }
  dirty(&pair, sizeof pair);
  dirty(&best, sizeof best);
  set(&pair.value, number(rank, 0));
  pair.place = 7 * rank;
  MPI_Allreduce(&pair, &best, 1, MPI_LONG_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  CHECK(best.value == number(ranks - 1, 0) && best.place == 7 * (ranks - 1));
  dirty(got, sizeof got);
  if (rank == 0) fill(got, length);
  MPI_Bcast(got, length, MPI_LONG_DOUBLE, 0, MPI_COMM_WORLD);
  check(got, length, 0);
  /* Several blocks are one result. */
  for (int r = 0; r < ranks; ++r) {
    counts[r] = length - 2;
    places[r] = r * length;
  }
  dirty(all, (size_t)ranks * sizeof own);
  MPI_Allgatherv(own, length - 2, MPI_LONG_DOUBLE, all, counts, places, MPI_LONG_DOUBLE, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) check(all + r * length, length - 2, r);
  free(all);
}

/* One side calls them long doubles and the other packed bytes (MPI 3.1, section 4.2), which all count. */
static void packed(void) {
  long double own[length], got[length];
  char buffer[sizeof own];
  int at = 0;
  memset(own, 0x77, sizeof own);
  for (int i = 0; i < length; ++i) set(&own[i], number(rank, i));
  MPI_Sendrecv(own, length, MPI_LONG_DOUBLE, right, 1, buffer, sizeof buffer, MPI_PACKED, left, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Unpack(buffer, sizeof buffer, &at, got, length, MPI_LONG_DOUBLE, MPI_COMM_WORLD);
  check(got, length, left);
  at = 0;
  MPI_Pack(own, length, MPI_LONG_DOUBLE, buffer, sizeof buffer, &at, MPI_COMM_WORLD);
  MPI_Sendrecv(buffer, at, MPI_PACKED, right, 2, got, length, MPI_LONG_DOUBLE, left, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  check(got, length, left);
}

static void files(void) {
  long double own[length], got[length];
  MPI_File file;
  fill(own, length);
  dirty(got, sizeof got);
  MPI_File_open(MPI_COMM_WORLD, "long_doubles.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof own, own, length, MPI_LONG_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_read_at_all(file, left * (MPI_Offset)sizeof own, got, length, MPI_LONG_DOUBLE, MPI_STATUS_IGNORE);
  check(got, length, left);
  MPI_File_close(&file);
}

static void windows(void) {
  long double own[length], got[length], exposed[length];
  MPI_Win win;
  fill(own, length);
  dirty(got, sizeof got);
  memset(exposed, 0, sizeof exposed);
  MPI_Win_create(exposed, sizeof exposed, sizeof *exposed, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(own, length, MPI_LONG_DOUBLE, right, 0, length, MPI_LONG_DOUBLE, win);
  MPI_Win_fence(0, win);
  check(exposed, length, left);
  MPI_Barrier(MPI_COMM_WORLD); /* nobody writes there before all have looked */
  MPI_Accumulate(own, 5, MPI_LONG_DOUBLE, right, 10, 5, MPI_LONG_DOUBLE, MPI_REPLACE, win);
  MPI_Win_fence(0, win);
  check(exposed + 10, 5, left);
  MPI_Accumulate(own, 5, MPI_LONG_DOUBLE, right, 20, 5, MPI_LONG_DOUBLE, MPI_SUM, win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < 5; ++i) CHECK(exposed[20 + i] == number(left, 20 + i) + number(left, i));
  MPI_Get(got, 10, MPI_LONG_DOUBLE, right, 0, 10, MPI_LONG_DOUBLE, win);
  MPI_Win_fence(0, win);
  check(got, 10, rank);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  replica = own_replica();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right = (rank + 1) % ranks;
  left = (rank + ranks - 1) % ranks;
  const struct Scenario scenarios[] = {
      {"messages", messages}, {"derived", derived}, {"collectives", collectives},
      {"packed", packed},     {"files", files},     {"windows", windows},
  };
  const int code = run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  MPI_Finalize();
  return code;
}
