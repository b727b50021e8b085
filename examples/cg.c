/* Conjugate gradients on the 27-point Poisson matrix of a cube, as HPCG has it: 26 on the diagonal, -1 towards each of
 * up to 26 neighbours, a CSR matrix, one slab of planes per rank. Every multiplication exchanges halo planes with the
 * ranks above and below (Isend, Irecv, Waitall), every inner product is an Allreduce.
 *
 * Verified by the residual, computed anew from the result, against two bounds that are theorems: what CG guarantees
 * after k steps for this matrix's condition number, and the distance from the known solution that the residual allows.
 */
#include <math.h>

#include "program.h"

static long long side = 24, iterations = 60, timing = 0;
static int rank, ranks;

struct Matrix {
  long long first_plane, planes; /* own planes of the cube */
  long long plane, rows;         /* points of a plane; own points */
  int* begin;                    /* rows + 1 offsets into the next two */
  int* column;                   /* index into a vector with one halo plane on each side */
  double* value;
};

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) {
    fprintf(stderr, "cg: making room for the matrix: out of memory: choose a smaller --size\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

static struct Matrix make_matrix(void) {
  struct Matrix m;
  m.first_plane = share_begin(side, rank, ranks);
  m.planes = share_begin(side, rank + 1, ranks) - m.first_plane;
  m.plane = side * side;
  m.rows = m.planes * m.plane;
  m.begin = (int*)allocate((size_t)m.rows + 1, sizeof(int));
  m.column = (int*)allocate((size_t)m.rows * 27, sizeof(int));
  m.value = (double*)allocate((size_t)m.rows * 27, sizeof(double));
  int used = 0;
  for (long long row = 0; row < m.rows; ++row) {
    const long long z = row / m.plane, y = row % m.plane / side, x = row % side;
    for (int dz = -1; dz <= 1; ++dz)
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
          const long long global_z = m.first_plane + z + dz;
          if (global_z < 0 || global_z >= side || y + dy < 0 || y + dy >= side || x + dx < 0 || x + dx >= side)
            continue;
          m.column[used] = (int)((z + dz + 1) * m.plane + (y + dy) * side + x + dx);
          m.value[used++] = dx == 0 && dy == 0 && dz == 0 ? 26.0 : -1.0;
        }
    m.begin[row + 1] = used;
  }
  return m;
}

static void exchange_halos(const struct Matrix* m, double* v) {
  const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL, above = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  const int count = (int)m->plane;
  MPI_Request requests[4];
  MPI_Irecv(v, count, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(v + (m->planes + 1) * m->plane, count, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(v + m->planes * m->plane, count, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(v + m->plane, count, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* out = A v; v has halo planes, out has none. */
static void multiply(const struct Matrix* m, double* v, double* out) {
  exchange_halos(m, v);
  for (long long row = 0; row < m->rows; ++row) {
    double sum = 0;
    for (int i = m->begin[row]; i < m->begin[row + 1]; ++i) sum += m->value[i] * v[m->column[i]];
    out[row] = sum;
  }
}

static double dot(const struct Matrix* m, const double* a, const double* b) {
  double own = 0, all;
  for (long long i = 0; i < m->rows; ++i) own += a[i] * b[i];
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/* The solution that the right-hand side is made from: between 0.5 and 1.5, different everywhere. */
static double known(const struct Matrix* m, long long row) {
  return 0.5 + (double)(scrambled((uint64_t)(m->first_plane * m->plane + row)) >> 11) * 0x1p-53;
}

/* Solves A x = b from x = 0; returns the number of steps done. */
static long long solve(const struct Matrix* m, const double* b, double* x, double* p) {
  double* r = (double*)allocate((size_t)m->rows, sizeof(double));
  double* ap = (double*)allocate((size_t)m->rows, sizeof(double));
  double* p_own = p + m->plane;
  memcpy(r, b, (size_t)m->rows * sizeof(double));
  memcpy(p_own, b, (size_t)m->rows * sizeof(double));
  double rr = dot(m, r, r);
  const double enough = rr * 1e-26;
  long long step = 0;
  for (; step < iterations && rr > enough; ++step) {
    multiply(m, p, ap);
    const double alpha = rr / dot(m, p_own, ap);
    for (long long i = 0; i < m->rows; ++i) {
      x[m->plane + i] += alpha * p_own[i];
      r[i] -= alpha * ap[i];
    }
    const double next = dot(m, r, r);
    for (long long i = 0; i < m->rows; ++i) p_own[i] = r[i] + next / rr * p_own[i];
    rr = next;
  }
  free(r);
  free(ap);
  return step;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Option options[] = {
      {"size", &side, 2, 400, "points along each edge of the cube"},
      {"iterations", &iterations, 1, 1000000, "steps at most"},
      {"timing", &timing, 0, 1, "1: print the seconds of the solution to standard error"},
  };
  read_options(argc, argv, "Solves a Poisson equation on a cube by conjugate gradients.", options, 3);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > side || side * side * (side / ranks + 1) > 70000000) {
    if (rank == 0)
      fprintf(
          stderr, "cg: sharing %lld planes among %d ranks: %s\n", side, ranks,
          ranks > side ? "each rank needs one: choose a larger --size" : "too many points: choose a smaller --size");
    leave(2);
  }

  const struct Matrix m = make_matrix();
  const size_t with_halo = (size_t)(m.rows + 2 * m.plane);
  double* x = (double*)allocate(with_halo, sizeof(double));
  double* p = (double*)allocate(with_halo, sizeof(double));
  double* b = (double*)allocate((size_t)m.rows, sizeof(double));
  double* work = (double*)allocate((size_t)m.rows, sizeof(double));
  for (long long i = 0; i < m.rows; ++i) p[m.plane + i] = known(&m, i);
  multiply(&m, p, b);

  const double begin = MPI_Wtime();
  const long long steps = solve(&m, b, x, p);
  const double seconds = MPI_Wtime() - begin;

  multiply(&m, x, work);
  for (long long i = 0; i < m.rows; ++i) work[i] = b[i] - work[i];
  const double b_norm = sqrt(dot(&m, b, b)), residual = sqrt(dot(&m, work, work));
  for (long long i = 0; i < m.rows; ++i) work[i] = x[m.plane + i] - known(&m, i);
  const double error = sqrt(dot(&m, work, work));
  double own = 0, checksum;
  for (long long i = 0; i < m.rows; ++i) own += x[m.plane + i];
  MPI_Allreduce(&own, &checksum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const uint64_t digest =
      digest_of_all(digest_bytes(digest_start, x + m.plane, (size_t)m.rows * sizeof(double)), MPI_COMM_WORLD);

  /* The eigenvalues are 27 - (1 + 2 cos a)(1 + 2 cos b)(1 + 2 cos c), all angles multiples of pi / (side + 1). */
  const double smallest = 27 - pow(1 + 2 * cos(acos(-1.0) / (double)(side + 1)), 3), condition = 36 / smallest;
  const double factor = (sqrt(condition) - 1) / (sqrt(condition) + 1);
  const double rounding = 1e-11;
  const int verified = residual / b_norm <= 2 * sqrt(condition) * pow(factor, (double)steps) + rounding &&
                       error <= residual / smallest + rounding * b_norm / smallest;
  if (rank == 0) {
    if (timing) fprintf(stderr, "cg: %.6f seconds for %lld iterations\n", seconds, steps);
    printf("cg: size %lld iterations %lld residual %.17g checksum %.17g digest %016llx %s\n", side, steps,
           residual / b_norm, checksum, (unsigned long long)digest, verified ? "verified" : "WRONG");
  }
  void* const all[] = {m.begin, m.column, m.value, x, p, b, work};
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free(all[i]);
  MPI_Finalize();
  return verified ? 0 : 1;
}
