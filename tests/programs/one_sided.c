/* One-sided communication (MPI 3.1, chapter 11) in each kind of epoch and on each kind of window. */
#include <stddef.h>

#include "replica.h"
#include "scenarios.h"

enum { length = 64 };

static void put_ring(MPI_Win win, const double* own) {
  MPI_Put(own, length, MPI_DOUBLE, (rank + 1) % ranks, 0, length, MPI_DOUBLE, win);
}

static int from_left(const double* got, int round) {
  const int left = (rank + ranks - 1) % ranks;
  for (int i = 0; i < length; ++i)
    if (got[i] != left * 1000 + i + round * 0.5) return 0;
  return 1;
}

static void fill(double* own, int round) {
  for (int i = 0; i < length; ++i) own[i] = rank * 1000 + i + round * 0.5;
}

static void fences(void) {
  double exposed[length] = {0}, own[length], back[length];
  MPI_Win win;
  MPI_Win_create(exposed, sizeof exposed, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  for (int round = 0; round < 5; ++round) {
    fill(own, round);
    put_ring(win, own);
    MPI_Win_fence(0, win);
    CHECK(from_left(exposed, round));
    MPI_Get(back, length, MPI_DOUBLE, (rank + 1) % ranks, 0, length, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    CHECK(memcmp(back, own, sizeof own) == 0);
  }
  for (int i = 0; i < length; ++i) exposed[i] = 1;
  MPI_Win_fence(0, win);
  for (int i = 0; i < length; ++i) own[i] = rank + 1;
  for (int to = 0; to < ranks; ++to) MPI_Accumulate(own, length, MPI_DOUBLE, to, 0, length, MPI_DOUBLE, MPI_SUM, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  for (int i = 0; i < length; ++i) CHECK(exposed[i] == 1 + ranks * (ranks + 1) / 2);
  MPI_Win_free(&win);
  CHECK(win == MPI_WIN_NULL);
}

/* Columns of a matrix, through a datatype that the program frees before the epoch ends. */
static void strided(void) {
  double matrix[8][8], own[8];
  memset(matrix, 0, sizeof matrix);
  for (int i = 0; i < 8; ++i) own[i] = rank * 10 + i;
  MPI_Win win;
  MPI_Datatype column;
  MPI_Win_create(matrix, sizeof matrix, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Type_vector(8, 1, 8, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Put(own, 8, MPI_DOUBLE, (rank + 1) % ranks, 3, 1, column, win);
  MPI_Type_free(&column);
  MPI_Win_fence(0, win);
  for (int i = 0; i < 8; ++i) CHECK(matrix[i][3] == (rank + ranks - 1) % ranks * 10 + i && matrix[i][4] == 0);
  MPI_Win_free(&win);
}

static void post_start_complete_wait(void) {
  double* exposed;
  double own[length];
  MPI_Win win;
  MPI_Group world, left, right;
  const int left_rank = (rank + ranks - 1) % ranks, right_rank = (rank + 1) % ranks;
  MPI_Win_allocate(length * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &win);
  for (int i = 0; i < length; ++i) exposed[i] = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &left_rank, &left);
  MPI_Group_incl(world, 1, &right_rank, &right);
  for (int round = 0; round < 4; ++round) {
    fill(own, round);
    MPI_Win_post(left, 0, win);
    MPI_Win_start(right, 0, win);
    put_ring(win, own);
    MPI_Win_complete(win);
    if (round % 2) {
      int over = 0;
      while (!over) MPI_Win_test(win, &over);
    } else {
      MPI_Win_wait(win);
    }
    CHECK(from_left(exposed, round));
  }
  MPI_Group_free(&world);
  MPI_Group_free(&left);
  MPI_Group_free(&right);
  MPI_Win_free(&win);
}

static void locks(void) {
  double exposed[length] = {0}, own[length], back[length];
  const int right = (rank + 1) % ranks;
  MPI_Win win;
  MPI_Win_create(exposed, sizeof exposed, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int round = 0; round < 3; ++round) {
    fill(own, round);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
    put_ring(win, own);
    MPI_Win_flush(right, win);
    MPI_Get(back, length, MPI_DOUBLE, right, 0, length, MPI_DOUBLE, win);
    MPI_Win_unlock(right, win);
    CHECK(memcmp(back, own, sizeof own) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(from_left(exposed, round));
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&win);
}

/* Everybody reads and rewrites a number of rank 0 under an exclusive lock: what each reads depends on who comes first.
 */
static void exclusive_turns(void) {
  int *number, seen[8], all[64];
  MPI_Win win;
  MPI_Win_allocate(rank == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &number, &win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  if (rank == 0) *number = 0;
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 8; ++i) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&seen[i], 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    int next = seen[i] + 1;
    MPI_Put(&next, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Gather(seen, 8, MPI_INT, all, 8, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    int taken[64] = {0};
    for (int i = 0; i < 8 * ranks; ++i) ++taken[all[i]];
    for (int i = 0; i < 8 * ranks; ++i) CHECK(taken[i] == 1);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    CHECK(*number == 8 * ranks);
    MPI_Win_unlock(0, win);
  }
  MPI_Win_free(&win);
}

/* Tickets by fetch-and-op, and a mutex made of compare-and-swap: results that differ from run to run. Open MPI 4.1's
 * compare-and-swap fails on one's own memory, so rank 0 leaves the mutex to the others. */
static void atomics(void) {
  int64_t* memory;
  MPI_Win win;
  MPI_Win_allocate(3 * sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  memory[0] = memory[1] = memory[2] = 0;
  MPI_Win_unlock(rank, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  const int64_t one = 1, zero = 0;
  int64_t sum = 0, ticket, before, value;
  for (int i = 0; i < 6; ++i) {
    MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, 0, MPI_SUM, win);
    MPI_Win_flush(0, win);
    sum += ticket;
  }
  for (int i = 0; i < 3 && rank > 0; ++i) {
    do {
      MPI_Compare_and_swap(&one, &zero, &before, MPI_INT64_T, 0, 1, win);
      MPI_Win_flush(0, win);
    } while (before != 0);
    MPI_Get(&value, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    ++value;
    MPI_Put(&value, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    MPI_Accumulate(&zero, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
  }
  MPI_Win_unlock_all(win);
  int64_t all;
  MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const int64_t tickets = 6 * ranks;
  CHECK(all == tickets * (tickets - 1) / 2);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  CHECK(rank != 0 || (memory[0] == tickets && memory[1] == 0 && memory[2] == 3 * (ranks - 1)));
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

static void requests(void) {
  int* memory;
  int own[4] = {rank, rank + 1, rank + 2, rank + 3}, back[4], old[4];
  const int right = (rank + 1) % ranks;
  MPI_Win win;
  MPI_Request request;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  for (int i = 0; i < 4; ++i) memory[i] = 0;
  MPI_Win_lock_all(0, win);
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Rput(own, 4, MPI_INT, right, 0, 4, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush_all(win);
  MPI_Rget(back, 4, MPI_INT, right, 0, 4, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(memcmp(back, own, sizeof own) == 0);
  MPI_Raccumulate(own, 4, MPI_INT, right, 0, 4, MPI_INT, MPI_SUM, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush_local(right, win);
  MPI_Rget_accumulate(own, 4, MPI_INT, old, 4, MPI_INT, right, 0, 4, MPI_INT, MPI_SUM, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; ++i) CHECK(old[i] == 2 * own[i]);
  MPI_Win_flush_local_all(win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

static void dynamic(void) {
  int memory[4] = {0}, own = rank + 40;
  MPI_Win win;
  MPI_Aint address, right_address;
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, memory, sizeof memory);
  /* A displacement from a place that everybody has: the same number in every replica. */
  MPI_Get_address(&memory[2], &address);
  MPI_Aint base;
  MPI_Get_address(memory, &base);
  MPI_Aint offset = MPI_Aint_diff(address, base);
  CHECK(offset == 8);
  MPI_Win_fence(0, win);
  if (ranks == 1) {
    right_address = address;
    MPI_Put(&own, 1, MPI_INT, right, right_address, 1, MPI_INT, win);
  }
  MPI_Win_fence(0, win);
  CHECK(ranks > 1 || memory[2] == left + 40);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
}

/* Whoever polls in vain has told its replicas so before it waits for them at an access. */
static void polls_before_accesses(void) {
  MPI_Aint* memory;
  MPI_Aint one = 1, before = -1;
  MPI_Win win;
  /* A cache line: with less MPICH 4.0.2 takes another rank's memory, without replication as well. */
  MPI_Win_allocate(64, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  for (int times = 0; times < 8; ++times) {
    int found = 1;
    for (int poll = 0; poll < times; ++poll) {
      MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
      CHECK(!found);
    }
    MPI_Fetch_and_op(&one, &before, MPI_AINT, times % ranks, 0, MPI_SUM, win);
    MPI_Win_flush(times % ranks, win);
    CHECK(before >= 0);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  CHECK(*memory == ranks * ((7 - rank) / ranks + 1));
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

/* Each process tells the others where its attached memory is, as MPI_AINT; replicas have it at different addresses, and
 * whatever is corrected in them, each keeps its own. */
struct Place {
  MPI_Aint address;
  int who;
};

static void attached(void) {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  char* apart = malloc((size_t)(native_rank() + 2) * 512);
  MPI_Aint* memory = malloc(4 * sizeof *memory); /* a flag, a number, the place of a neighbour, none */
  const int lengths[2] = {1, 1};
  const MPI_Aint offsets[2] = {offsetof(struct Place, address), offsetof(struct Place, who)};
  const MPI_Datatype members[2] = {MPI_AINT, MPI_INT};
  MPI_Datatype place, places;
  struct Place own = {0, rank + 20}, next = {0, 0};
  MPI_Aint *all = malloc((size_t)ranks * sizeof *all), fetched = -1, nothing = 0;
  MPI_Win win;
  memset(apart, 1, 512);
  memset(memory, 0, 4 * sizeof *memory);
  MPI_Type_create_struct(2, lengths, offsets, members, &place);
  MPI_Type_create_resized(place, 0, sizeof(struct Place), &places);
  MPI_Type_commit(&places);
  MPI_Get_address(memory, &own.address);
  /* The first message of the scenario: tests flip a bit of it. */
  MPI_Sendrecv(&own, 1, places, left, 1, &next, 1, places, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(next.who == right + 20);
  MPI_Allgather(&own.address, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
  CHECK(all[rank] == own.address && all[right] == next.address);

  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, memory, 4 * (MPI_Aint)sizeof *memory);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Aint number = 100 + rank;
  const MPI_Aint step = sizeof *memory;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
  MPI_Put(&number, 1, MPI_AINT, right, MPI_Aint_add(next.address, step), 1, MPI_AINT, win);
  MPI_Put(&all[left], 1, MPI_AINT, right, MPI_Aint_add(next.address, 2 * step), 1, MPI_AINT, win);
  MPI_Win_unlock(right, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  CHECK(memory[1] == 100 + left && memory[2] == all[(left + ranks - 1) % ranks] && memory[3] == 0);
  MPI_Win_unlock(rank, win);
  /* What stands there is fetched, by one call and by the other, and leads to its owner. */
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
  MPI_Get(&fetched, 1, MPI_AINT, right, MPI_Aint_add(next.address, 2 * step), 1, MPI_AINT, win);
  MPI_Win_unlock(right, win);
  CHECK(fetched == all[left]);
  fetched = -1;
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
  MPI_Fetch_and_op(&nothing, &fetched, MPI_AINT, right, MPI_Aint_add(next.address, 2 * step), MPI_NO_OP, win);
  MPI_Win_unlock(right, win);
  CHECK(fetched == all[left]);
  MPI_Win_lock(MPI_LOCK_SHARED, left, 0, win);
  MPI_Get(&number, 1, MPI_AINT, left, MPI_Aint_add(fetched, step), 1, MPI_AINT, win);
  MPI_Win_unlock(left, win);
  CHECK(number == 100 + (left + ranks - 1) % ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  MPI_Type_free(&place);
  MPI_Type_free(&places);
  free(all);
  free(memory);
  free(apart);
}

/* Refused by name: between fences replicas do not repeat who comes first, and an address of another one means nothing.
 */
static void raced_addresses(void) {
  MPI_Aint memory[1] = {0}, own, fetched = 0, nothing = 0;
  MPI_Aint* all = malloc((size_t)ranks * sizeof *all);
  const int right = (rank + 1) % ranks;
  MPI_Win win;
  MPI_Get_address(memory, &own);
  MPI_Allgather(&own, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_attach(win, memory, sizeof memory);
  MPI_Win_fence(0, win);
  MPI_Put(&own, 1, MPI_AINT, right, all[right], 1, MPI_AINT, win);
  MPI_Win_fence(0, win);
  MPI_Fetch_and_op(&nothing, &fetched, MPI_AINT, right, all[right], MPI_NO_OP, win);
  MPI_Win_fence(0, win);
  CHECK(fetched == own);
  MPI_Win_detach(win, memory);
  MPI_Win_free(&win);
  free(all);
}

static void shared_memory(void) {
  int *own, *other;
  MPI_Comm host;
  MPI_Win win;
  MPI_Aint bytes;
  int unit, here, on_host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &here);
  MPI_Comm_size(host, &on_host);
  MPI_Win_allocate_shared(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, host, &own, &win);
  MPI_Win_fence(0, win);
  for (int i = 0; i < 4; ++i) own[i] = here * 10 + i;
  MPI_Win_fence(0, win);
  MPI_Win_shared_query(win, (here + 1) % on_host, &bytes, &unit, &other);
  CHECK(unit == sizeof(int));
  for (int i = 0; i < 4; ++i) CHECK(other[i] == (here + 1) % on_host * 10 + i);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  MPI_Comm_free(&host);
}

static int handled;
static void note_error(MPI_Win* win, int* code, ...) {
  int size, class;
  (void)win;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Error_class(*code, &class);
  handled += size == ranks && class == MPI_ERR_RANK;
}

static void errors_and_attributes(void) {
  int memory = 0, flag, value = 3, *got, keyval, class;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Win win;
  MPI_Errhandler handler;
  MPI_Group group, world;
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_create_errhandler(note_error, &handler);
  MPI_Win_set_errhandler(win, handler);
  MPI_Win_fence(0, win);
  handled = 0;
  MPI_Put(&value, 1, MPI_INT, ranks + 2, 0, 1, MPI_INT, win);
  CHECK(handled == 1);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win), &class);
  CHECK(class == MPI_ERR_COUNT);
  MPI_Win_fence(0, win);
  MPI_Errhandler_free(&handler);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL);
  MPI_Win_set_attr(win, keyval, &value);
  MPI_Win_get_attr(win, keyval, &got, &flag);
  CHECK(flag && got == &value);
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &got, &flag);
  CHECK(flag && *got == sizeof memory);
  MPI_Win_set_name(win, "a window");
  MPI_Win_get_name(win, name, &flag);
  CHECK(strcmp(name, "a window") == 0);
  MPI_Win_get_group(win, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &flag);
  CHECK(flag == MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Win_free_keyval(&keyval);
  MPI_Win_free(&win);
}

/* What MPI says of an access at the call, it says at the call. A lock ends what a fence had opened, if nothing was done
 * in it (MPI 3.1, section 11.5.1). */
static void errors_at_the_call(void) {
  int memory = 0, number = 0, class = MPI_SUCCESS;
  MPI_Win win;
  MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
#ifdef MPICH
  float cell = 0, other = 1, result = 0;
  MPI_Datatype derived;
  MPI_Type_contiguous(1, MPI_INT, &derived);
  MPI_Type_commit(&derived);
  MPI_Win_fence(0, win);
  MPI_Error_class(MPI_Compare_and_swap(&cell, &other, &result, MPI_FLOAT, 0, 0, win), &class);
  CHECK(class == MPI_ERR_TYPE);
  MPI_Error_class(MPI_Compare_and_swap(&number, &number, &class, derived, 0, 0, win), &class);
  CHECK(class == MPI_ERR_TYPE);
  MPI_Error_class(MPI_Fetch_and_op(&number, &result, derived, 0, 0, MPI_SUM, win), &class);
  CHECK(class == MPI_ERR_TYPE);
  MPI_Type_free(&derived);
#endif
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win);
  MPI_Get(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
  MPI_Win_unlock(0, win);
  MPI_Error_class(MPI_Get(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, win), &class);
  CHECK(class == MPI_ERR_RMA_SYNC);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* A program may have as many windows as it has communicators for: MPICH has 2,048, of which copies take most here.
 * Those made of one communicator do not disturb one another's locks, nor do later ones those before. */
enum { copies = 1985, many = 20, used = 3 };

static void open_window(long* memory, MPI_Win* win) {
  memory[0] = memory[1] = 0;
  MPI_Win_create(memory, 2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, win);
}

/* Each rank draws a number at some of the windows and adds its own to what stands there. */
static void draw(MPI_Win* win) {
  long drawn[many] = {0}, one = 1, own = rank + 1;
  for (int i = 0; i < many; i += used) {
    MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, i % ranks, 0, win[i]);
    MPI_Fetch_and_op(&one, &drawn[i], MPI_LONG, i % ranks, 0, MPI_SUM, win[i]);
    MPI_Accumulate(&own, 1, MPI_LONG, i % ranks, 1, 1, MPI_LONG, MPI_SUM, win[i]);
    MPI_Win_unlock(i % ranks, win[i]);
  }
  MPI_Allreduce(MPI_IN_PLACE, drawn, many, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < many; i += used) CHECK(drawn[i] % (ranks * (long)ranks) == ranks * (ranks - 1L) / 2);
}

static void many_windows(void) {
  static MPI_Comm copy[copies];
  static MPI_Win win[many];
  static long memory[many][2];
  for (int i = 0; i < copies; ++i) MPI_Comm_dup(MPI_COMM_SELF, &copy[i]);
  for (int i = 0; i < many; ++i) open_window(memory[i], &win[i]);
  draw(win);
  for (int i = 0; i < many; i += 2 * used) MPI_Win_free(&win[i]);
  for (int i = 0; i < many; i += 2 * used) open_window(memory[i], &win[i]);
  draw(win);
  for (int i = 0; i < many; ++i) MPI_Win_free(&win[i]);
  for (int i = 0; i < many; i += used) {
    const long rounds = i % ranks == rank ? 1 + i / used % 2 : 0;
    CHECK(memory[i][0] == rounds * ranks && memory[i][1] == rounds * ranks * (ranks + 1) / 2);
  }
  for (int i = 0; i < copies; ++i) MPI_Comm_free(&copy[i]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Scenario scenarios[] = {
      {"fences", fences},
      {"strided", strided},
      {"post_start_complete_wait", post_start_complete_wait},
      {"locks", locks},
      {"exclusive_turns", exclusive_turns},
      {"atomics", atomics},
      {"requests", requests},
      {"dynamic", dynamic},
      {"attached", attached},
      {"polls_before_accesses", polls_before_accesses},
      {"shared_memory", shared_memory},
      {"errors_and_attributes", errors_and_attributes},
      {"errors_at_the_call", errors_at_the_call},
      {"many_windows", many_windows},
  };
  const struct Scenario refused[] = {{"raced_addresses", raced_addresses}};
  const int refusing = argc == 2 && strcmp(argv[1], refused[0].name) == 0;
  const int code = refusing ? run_scenarios(argc, argv, refused, 1)
                            : run_scenarios(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
  MPI_Finalize();
  return code;
}
