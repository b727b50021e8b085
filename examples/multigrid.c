/* Multigrid as the MG kernel of the NAS benchmarks has it: V-cycles for the Poisson equation on a periodic cube, a slab
 * of planes per rank. Every smoothing step exchanges one plane with the ranks above and below, long planes on the fine
 * grids and short ones on the coarse grids; every cycle ends with the residual's norm, an Allreduce.
 *
 * Verified by the residual, computed anew from the result, and by the distance from the known solution, which the
 * residual bounds by the smallest eigenvalue. */
#include <math.h>

#include "program.h"

enum { most_levels = 10 };

static long long side = 32, cycles = 30;
static int rank, ranks, levels;

/* One grid: n points along each edge, `planes` of them here, one plane of halo on each side. */
struct Grid {
  long long n, planes;
  double *x, *b, *r;
};
static struct Grid grids[most_levels];

static double* allocate(size_t count) {
  double* memory = (double*)calloc(count, sizeof(double));
  if (memory == NULL) {
    fprintf(stderr, "multigrid: making room for the grids: out of memory: choose a smaller --size\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

static void make_grids(void) {
  long long n = side, planes = side / ranks;
  for (levels = 0; levels < most_levels;) {
    struct Grid* g = &grids[levels++];
    const size_t points = (size_t)((planes + 2) * n * n);
    g->n = n;
    g->planes = planes;
    g->x = allocate(points);
    g->b = allocate(points);
    g->r = allocate(points);
    if (n <= 4 || n % 2 != 0 || planes % 2 != 0) return;
    n /= 2;
    planes /= 2;
  }
}

static void exchange_halos(const struct Grid* g, double* v) {
  const int above = (rank + 1) % ranks, below = (rank + ranks - 1) % ranks, count = (int)(g->n * g->n);
  MPI_Sendrecv(v + g->planes * g->n * g->n, count, MPI_DOUBLE, above, 1, v, count, MPI_DOUBLE, below, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(v + g->n * g->n, count, MPI_DOUBLE, below, 2, v + (g->planes + 1) * g->n * g->n, count, MPI_DOUBLE,
               above, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* r = b - A x, where (A x) is 6 x minus the six neighbours. */
static void residual(const struct Grid* g, double* x, const double* b, double* r) {
  exchange_halos(g, x);
  const long long n = g->n;
  for (long long z = 1; z <= g->planes; ++z)
    for (long long y = 0; y < n; ++y) {
      const long long row = (z * n + y) * n, north = (z * n + (y + 1) % n) * n, south = (z * n + (y + n - 1) % n) * n;
      for (long long i = 0; i < n; ++i)
        r[row + i] = b[row + i] - 6 * x[row + i] + x[row + (i + 1) % n] + x[row + (i + n - 1) % n] + x[north + i] +
                     x[south + i] + x[row + n * n + i] + x[row - n * n + i];
    }
}

/* Damped Jacobi; 6/7 is the best damping of the high frequencies in three dimensions. */
static void smooth(const struct Grid* g, int times) {
  const long long first = g->n * g->n, last = (g->planes + 1) * g->n * g->n;
  while (times-- > 0) {
    residual(g, g->x, g->b, g->r);
    for (long long i = first; i < last; ++i) g->x[i] += 6.0 / 7 / 6 * g->r[i];
  }
}

/* The mean of eight fine points is one coarse point, four times as much as the coarse grid's spacing is wider squared.
 */
static void restrict_residual(const struct Grid* fine, const struct Grid* coarse) {
  const long long n = coarse->n, m = fine->n;
  for (long long z = 0; z < coarse->planes; ++z)
    for (long long y = 0; y < n; ++y)
      for (long long x = 0; x < n; ++x) {
        double sum = 0;
        for (int corner = 0; corner < 8; ++corner)
          sum += fine->r[((2 * z + 1 + (corner >> 2)) * m + 2 * y + ((corner >> 1) & 1)) * m + 2 * x + (corner & 1)];
        coarse->b[((z + 1) * n + y) * n + x] = sum / 8 * 4;
      }
}

/* What is constant in a coarse cell overestimates a smooth correction's bends by two, so half of it is taken. */
static void add_correction(const struct Grid* coarse, const struct Grid* fine) {
  const long long n = coarse->n, m = fine->n;
  for (long long z = 0; z < fine->planes; ++z)
    for (long long y = 0; y < m; ++y)
      for (long long x = 0; x < m; ++x)
        fine->x[((z + 1) * m + y) * m + x] += coarse->x[((z / 2 + 1) * n + y / 2) * n + x / 2] / 2;
}

static void cycle(int level) {
  struct Grid* g = &grids[level];
  if (level == levels - 1) {
    smooth(g, 60);
    return;
  }
  struct Grid* coarse = &grids[level + 1];
  smooth(g, 3);
  residual(g, g->x, g->b, g->r);
  restrict_residual(g, coarse);
  memset(coarse->x, 0, (size_t)((coarse->planes + 2) * coarse->n * coarse->n) * sizeof(double));
  cycle(level + 1);
  add_correction(coarse, g);
  smooth(g, 3);
}

static double sum_of_all(double own) {
  double all;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static double norm(const struct Grid* g, const double* v) {
  double own = 0;
  for (long long i = g->n * g->n; i < (g->planes + 1) * g->n * g->n; ++i) own += v[i] * v[i];
  return sqrt(sum_of_all(own));
}

/* Of a periodic problem's solutions the one whose mean is zero. */
static void remove_mean(const struct Grid* g, double* v) {
  double own = 0;
  for (long long i = g->n * g->n; i < (g->planes + 1) * g->n * g->n; ++i) own += v[i];
  const double mean = sum_of_all(own) / (double)(g->n * g->n * g->n);
  for (long long i = g->n * g->n; i < (g->planes + 1) * g->n * g->n; ++i) v[i] -= mean;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Option options[] = {
      {"size", &side, 4, 512, "points along each edge of the cube, a multiple of the ranks"},
      {"cycles", &cycles, 1, 1000, "V-cycles"},
  };
  read_options(argc, argv, "Solves a Poisson equation on a periodic cube by multigrid.", options, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (side % ranks != 0) {
    if (rank == 0)
      fprintf(stderr, "multigrid: sharing %lld planes among %d ranks: choose a --size that they divide\n", side, ranks);
    leave(2);
  }
  make_grids();
  struct Grid* g = &grids[0];
  const long long first = g->n * g->n, points = g->planes * g->n * g->n;
  double* known = allocate((size_t)((g->planes + 2) * g->n * g->n));
  for (long long i = 0; i < points; ++i)
    known[first + i] = (double)(scrambled((uint64_t)(rank * points + i)) >> 11) * 0x1p-53;
  remove_mean(g, known);
  memset(g->r, 0, (size_t)(points + 2 * first) * sizeof(double));
  residual(g, known, g->r, g->b); /* -A known */
  for (long long i = first; i < first + points; ++i) g->b[i] = -g->b[i];
  const double whole = norm(g, g->b);
  double left = whole;
  for (long long c = 0; c < cycles; ++c) {
    cycle(0);
    residual(g, g->x, g->b, g->r);
    left = norm(g, g->r);
  }
  remove_mean(g, g->x);
  for (long long i = first; i < first + points; ++i) known[i] -= g->x[i];
  const double error = norm(g, known), smallest = 2 - 2 * cos(2 * acos(-1.0) / (double)side);
  const uint64_t digest =
      digest_of_all(digest_bytes(digest_start, g->x + first, (size_t)points * sizeof(double)), MPI_COMM_WORLD);
  /* It does far better; what it may not do is stop converging. */
  const int verified = left <= whole * (pow(0.75, (double)cycles) + 1e-12) && error <= left / smallest + 1e-11 * whole;
  if (rank == 0)
    printf("multigrid: size %lld levels %d cycles %lld residual %.17g digest %016llx %s\n", side, levels, cycles,
           left / whole, (unsigned long long)digest, verified ? "verified" : "WRONG");
  free(known);
  for (int l = 0; l < levels; ++l) {
    free(grids[l].x);
    free(grids[l].b);
    free(grids[l].r);
  }
  MPI_Finalize();
  return verified ? 0 : 1;
}
