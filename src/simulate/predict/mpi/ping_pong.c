/* What `holdfast calibrate` starts, two processes of it: how long MPI takes for a message. Prints a line a measurement,
   words and numbers, durations in ns, lower quartiles over repetitions (calibration.h reads them): what else runs on
   the machine makes calls longer, never shorter. Calls that were late, because a process had lost its core, are left
   out where enough others are there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { longest = 1 << 22, repetitions = 401, rounds = 2001, eager_tries = 7, sizes = 8 };

static char* buffer;
static int rank;

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Outside MPI, so that it makes no progress. */
static void spin(double ns) {
  const double until = now_ns() + ns;
  while (now_ns() < until) {
  }
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Calls in all, and those of over a millisecond, in which the machine was at something else. */
static long calls_made, calls_late;

static double quartile(double* values, int count) {
  int late = 0;
  for (int i = 0; i < count; ++i) late += values[i] > 1e6;
  calls_made += count;
  calls_late += late;
  qsort(values, (size_t)count, sizeof *values, compare);
  const int in_time = count - late;
  return values[(in_time >= count / 8 ? in_time : count) / 4];
}

static void tell_late(void) {
  long own[2] = {calls_made, calls_late}, both[2];
  MPI_Reduce(own, both, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("late %ld %ld\nend\n", both[0], both[1]);
}

/* Rank 1 is ready, looks away for a while, and receives what came meanwhile; both time their call. */
static void one_message(int bytes, double away_ns, double* call_ns) {
  if (rank == 0) {
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double begin = now_ns();
    MPI_Send(buffer, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    *call_ns = now_ns() - begin;
  } else {
    MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    spin(away_ns);
    const double begin = now_ns();
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *call_ns = now_ns() - begin;
  }
}

/* Of eager_tries sends those that were over long before their receiver, which was away so long, came back. */
static int quick_sends(int bytes, double away_ns) {
  int quick = 0;
  for (int i = 0; i < eager_tries; ++i) {
    double took;
    one_message(bytes, away_ns, &took);
    quick += took < away_ns / 2;
  }
  MPI_Bcast(&quick, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return quick;
}

/* Whether a send is over while its receiver is outside MPI. Where tries differ, a process had lost its core, and the
   receiver stays away for longer than that takes. */
static int is_eager(int bytes) {
  int quick = quick_sends(bytes, 4e6);
  if (quick > 0 && quick < eager_tries) quick = quick_sends(bytes, 4e7);
  return 2 * quick > eager_tries;
}

static int eager_limit(void) {
  int low = 0, high = longest;
  if (is_eager(high)) return high;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (is_eager(middle))
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Lengths in turn, so that another program that has the cores for a while is seen by all of them alike. */
static void tell_messages(int most) {
  static double calls[sizes][rounds];
  int bytes[sizes];
  for (int size = 0; size < sizes; ++size) bytes[size] = (int)((long)most * size / (sizes - 1));
  for (int i = 0; i < rounds; ++i)
    for (int size = 0; size < sizes; ++size) one_message(bytes[size], 5e4, &calls[size][i]);
  for (int size = 0; size < sizes; ++size) {
    double own = quartile(calls[size], rounds), other = own;
    MPI_Sendrecv(&own, 1, MPI_DOUBLE, 1 - rank, 3, &other, 1, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (rank == 0) printf("send %d %.0f\nreceive %d %.0f\n", bytes[size], own, bytes[size], other);
  }
}

static void tell_one_way(int bytes) {
  static double halves[repetitions];
  for (int i = 0; i < repetitions; ++i) {
    const double begin = now_ns();
    if (rank == 0) MPI_Send(buffer, bytes, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(buffer, bytes, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
    halves[i] = (now_ns() - begin) / 2;
  }
  if (rank == 0) printf("one_way %d %.0f\n", bytes, quartile(halves, repetitions));
}

static void tell_collectives(void) {
  static double barriers[repetitions], allreduces[repetitions];
  double in = 1, out;
  for (int i = 0; i < repetitions; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now_ns();
    MPI_Barrier(MPI_COMM_WORLD);
    barriers[i] = now_ns() - begin;
    begin = now_ns();
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    allreduces[i] = now_ns() - begin;
  }
  if (rank == 0)
    printf("barrier %.0f\nallreduce8 %.0f\n", quartile(barriers, repetitions), quartile(allreduces, repetitions));
}

static void tell_reduction(void) {
  enum { bytes = 1 << 16 };
  static double times[repetitions];
  for (int i = 0; i < repetitions; ++i) {
    const double begin = now_ns();
    MPI_Reduce_local(buffer, buffer + longest / 2, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM);
    times[i] = now_ns() - begin;
  }
  if (rank == 0) printf("reduce %d %.0f\n", (int)bytes, quartile(times, repetitions));
}

int main(int argc, char** argv) {
  int size, together;
  MPI_Comm host;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    fprintf(stderr, "there are to be 2 processes, and there are %d\n", size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  buffer = calloc(longest, 1);
  if (buffer == NULL) MPI_Abort(MPI_COMM_WORLD, 6);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &together);
  MPI_Comm_free(&host);
  if (rank == 0) printf("hosts %d\n", together == 2 ? 1 : 2);
  for (int i = 0; i < 100; ++i) { /* the first messages make connections */
    double ignored;
    one_message(64, 0, &ignored);
  }
  const int limit = eager_limit();
  if (rank == 0) printf("eager_limit %d\n", limit);
  tell_messages(limit < 1 << 16 ? limit : 1 << 16);
  tell_one_way(1);
  tell_reduction();
  tell_collectives();
  tell_late();
  free(buffer);
  MPI_Finalize();
  return 0;
}
