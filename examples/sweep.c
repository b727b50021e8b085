/* A wavefront sweep as the LU kernel of the NAS benchmarks has it: ranks form a grid over two axes of a cube, and each
 * plane along the third needs its western and northern neighbours' edges first; many small messages, in a pipeline.
 * There and back: a forward and a backward substitution with the same triangular matrix and its transpose.
 *
 * Verified by multiplying: the right-hand side is made from a known solution, which the sweeps must find again. */
#include <math.h>

#include "program.h"

static long long side = 24, sweeps = 4;
static int rank, ranks, dims[2], place[2], before[2], after[2];
static long long nx, ny, first_x, first_y;
static MPI_Comm grid;

/* v has one layer of halo on both sides of both axes. */
static double* at(double* v, long long x, long long y, long long z) {
  return v + ((z * (ny + 2) + y + 1) * (nx + 2) + x + 1);
}

static double known(long long x, long long y, long long z) {
  return 0.5 + (double)(scrambled((uint64_t)(((first_x + x) * side + first_y + y) * side + z)) >> 11) * 0x1p-53;
}

/* One plane's edges: receives what the sweep needs, or sends what it has made. */
static void take(double* v, long long z, const int from[2], int forward) {
  double edge[1024];
  if (from[0] != MPI_PROC_NULL) {
    MPI_Recv(edge, (int)ny, MPI_DOUBLE, from[0], 1, grid, MPI_STATUS_IGNORE);
    for (long long y = 0; y < ny; ++y) *at(v, forward ? -1 : nx, y, z) = edge[y];
  }
  if (from[1] != MPI_PROC_NULL) {
    MPI_Recv(edge, (int)nx, MPI_DOUBLE, from[1], 2, grid, MPI_STATUS_IGNORE);
    for (long long x = 0; x < nx; ++x) *at(v, x, forward ? -1 : ny, z) = edge[x];
  }
}
static void give(double* v, long long z, const int to[2], int forward) {
  double edge[1024];
  if (to[0] != MPI_PROC_NULL) {
    for (long long y = 0; y < ny; ++y) edge[y] = *at(v, forward ? nx - 1 : 0, y, z);
    MPI_Send(edge, (int)ny, MPI_DOUBLE, to[0], 1, grid);
  }
  if (to[1] != MPI_PROC_NULL) {
    for (long long x = 0; x < nx; ++x) edge[x] = *at(v, x, forward ? ny - 1 : 0, z);
    MPI_Send(edge, (int)nx, MPI_DOUBLE, to[1], 2, grid);
  }
}

/* `solve`: v becomes the solution of 4 v - its three neighbours behind = v. Else the product, which is its opposite. */
static void sweep(double* v, int forward, int solve) {
  const int* from = forward ? before : after;
  const int* to = forward ? after : before;
  const long long step = forward ? -1 : 1;
  for (long long k = 0; k < side; ++k) {
    /* A product needs values that are not overwritten yet, so that it goes against the sweep. */
    const long long z = (forward == solve) ? k : side - 1 - k;
    if (!solve) give(v, z, to, forward);
    take(v, z, from, forward);
    for (long long j = 0; j < ny; ++j)
      for (long long i = 0; i < nx; ++i) {
        const long long y = (forward == solve) ? j : ny - 1 - j, x = (forward == solve) ? i : nx - 1 - i;
        const double behind = *at(v, x + step, y, z) + *at(v, x, y + step, z) +
                              (z + step >= 0 && z + step < side ? *at(v, x, y, z + step) : 0);
        *at(v, x, y, z) = solve ? (*at(v, x, y, z) + behind) / 4 : 4 * *at(v, x, y, z) - behind;
      }
    if (solve) give(v, z, to, forward);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Option options[] = {
      {"size", &side, 2, 1000, "points along each edge of the cube"},
      {"sweeps", &sweeps, 1, 100000, "sweeps there and back"},
  };
  read_options(argc, argv, "Solves triangular systems by wavefront sweeps.", options, 2);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int periods[2] = {0, 0};
  MPI_Dims_create(ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, place);
  MPI_Cart_shift(grid, 0, 1, &before[0], &after[0]);
  MPI_Cart_shift(grid, 1, 1, &before[1], &after[1]);
  if (dims[0] > side || dims[1] > side) {
    if (rank == 0) fprintf(stderr, "sweep: sharing %lld rows among %d ranks: choose a larger --size\n", side, dims[0]);
    leave(2);
  }
  first_x = share_begin(side, place[0], dims[0]);
  first_y = share_begin(side, place[1], dims[1]);
  nx = share_begin(side, place[0] + 1, dims[0]) - first_x;
  ny = share_begin(side, place[1] + 1, dims[1]) - first_y;
  double* v = calloc((size_t)((nx + 2) * (ny + 2) * side), sizeof(double));
  if (v == NULL) {
    fprintf(stderr, "sweep: making room for the cube: out of memory: choose a smaller --size\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (long long z = 0; z < side; ++z)
    for (long long y = 0; y < ny; ++y)
      for (long long x = 0; x < nx; ++x) *at(v, x, y, z) = known(x, y, z);
  double wrong = 0;
  for (long long s = 0; s < sweeps; ++s) {
    sweep(v, 1, 0);
    sweep(v, 0, 0);
    sweep(v, 0, 1);
    sweep(v, 1, 1);
  }
  uint64_t digest = digest_start;
  for (long long z = 0; z < side; ++z)
    for (long long y = 0; y < ny; ++y)
      for (long long x = 0; x < nx; ++x) {
        wrong = fmax(wrong, fabs(*at(v, x, y, z) - known(x, y, z)));
        digest = digest_bytes(digest, at(v, x, y, z), sizeof(double));
      }
  digest = digest_of_all(digest, grid);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_DOUBLE, MPI_MAX, grid);
  const int verified = wrong < 1e-9;
  if (rank == 0)
    printf("sweep: size %lld sweeps %lld digest %016llx %s\n", side, sweeps, (unsigned long long)digest,
           verified ? "verified" : "WRONG");
  free(v);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return verified ? 0 : 1;
}
