/* A three-dimensional Fourier transform as the FT kernel of the NAS benchmarks has it: slabs of planes, transforms
 * along two axes in place, a transpose of the whole array by MPI_Alltoall, the third axis, and the way back.
 *
 * Verified by what is known of the transform: of a plane wave it is one peak (its neighbours and the sum of squares are
 * checked, Parseval), and forward and backward give back the scrambled input. */
#include <complex.h>
#include <math.h>

#include "program.h"

static long long side = 32, repetitions = 3;
static int rank, ranks;

typedef double complex Number;

/* Radix-2, in place; direction -1 forward, 1 backward (not scaled). `n` a power of two. */
static void transform(Number* x, long long n, int direction) {
  for (long long i = 1, j = 0; i < n; ++i) {
    long long bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      const Number kept = x[i];
      x[i] = x[j];
      x[j] = kept;
    }
  }
  for (long long half = 1; half < n; half *= 2)
    for (long long k = 0; k < half; ++k) {
      const double angle = direction * acos(-1.0) * (double)k / (double)half;
      const Number turn = cos(angle) + sin(angle) * I;
      for (long long i = k; i < n; i += 2 * half) {
        const Number odd = turn * x[i + half];
        x[i + half] = x[i] - odd;
        x[i] += odd;
      }
    }
}

/* Along the last two axes of the own planes. */
static void transform_planes(Number* slab, int direction) {
  const long long planes = side / ranks;
  Number* line = malloc((size_t)side * sizeof(Number));
  if (line == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (long long p = 0; p < planes; ++p) {
    Number* plane = slab + p * side * side;
    for (long long y = 0; y < side; ++y) transform(plane + y * side, side, direction);
    for (long long x = 0; x < side; ++x) {
      for (long long y = 0; y < side; ++y) line[y] = plane[y * side + x];
      transform(line, side, direction);
      for (long long y = 0; y < side; ++y) plane[y * side + x] = line[y];
    }
  }
  free(line);
}

/* The first axis becomes the last, the last the first: a[z][y][x] with own z goes to b[x][y][z] with own x. */
static void transpose(const Number* from, Number* to, Number* sent, Number* got) {
  const long long planes = side / ranks, block = planes * planes * side;
  for (int r = 0; r < ranks; ++r)
    for (long long x = 0; x < planes; ++x)
      for (long long y = 0; y < side; ++y)
        for (long long z = 0; z < planes; ++z)
          sent[r * block + (x * side + y) * planes + z] = from[(z * side + y) * side + r * planes + x];
  MPI_Alltoall(sent, (int)(2 * block), MPI_DOUBLE, got, (int)(2 * block), MPI_DOUBLE, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r)
    for (long long x = 0; x < planes; ++x)
      for (long long y = 0; y < side; ++y)
        for (long long z = 0; z < planes; ++z)
          to[(x * side + y) * side + r * planes + z] = got[r * block + (x * side + y) * planes + z];
}

static void transform_lines(Number* slab, int direction) {
  for (long long line = 0; line < side / ranks * side; ++line) transform(slab + line * side, side, direction);
}

static Number input(long long index) {
  const double scale = 0x1p-53;
  return (double)(scrambled((uint64_t)(2 * index)) >> 11) * scale - 0.5 +
         ((double)(scrambled((uint64_t)(2 * index + 1)) >> 11) * scale - 0.5) * I;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Option options[] = {
      {"size", &side, 2, 512, "points along each edge of the cube, a power of two"},
      {"repetitions", &repetitions, 1, 100000, "transforms forward and backward"},
  };
  read_options(argc, argv, "Transforms a cube of numbers and back.", options, 2);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  /* With a number of ranks that does not divide the cube, the last ones have nothing to do: fewer would be asked for.
   */
  if ((side & (side - 1)) != 0 || side % ranks != 0) {
    if (rank == 0)
      fprintf(stderr, "fft: sharing %lld planes among %d ranks: both must be powers of two: choose another --size\n",
              side, ranks);
    leave(2);
  }
  const long long planes = side / ranks, own = planes * side * side;
  Number* memory = malloc((size_t)(4 * own) * sizeof(Number));
  if (memory == NULL) {
    fprintf(stderr, "fft: making room for the cube: out of memory: choose a smaller --size\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  Number *slab = memory, *turned = memory + own, *sent = memory + 2 * own, *got = memory + 3 * own;
  double wrong = 0, energy[2] = {0, 0};
  const double points = (double)side * (double)side * (double)side;
  for (long long i = 0; i < own; ++i) slab[i] = input(rank * own + i);
  for (long long repetition = 0; repetition < repetitions; ++repetition) {
    energy[0] = energy[1] = 0;
    for (long long i = 0; i < own; ++i) energy[0] += creal(slab[i] * conj(slab[i]));
    transform_planes(slab, -1);
    transpose(slab, turned, sent, got);
    transform_lines(turned, -1);
    for (long long i = 0; i < own; ++i) energy[1] += creal(turned[i] * conj(turned[i])) / points;
    MPI_Allreduce(MPI_IN_PLACE, energy, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    wrong = fmax(wrong, fabs(energy[1] / energy[0] - 1));
    transform_lines(turned, 1);
    transpose(turned, slab, sent, got);
    transform_planes(slab, 1);
    for (long long i = 0; i < own; ++i) slab[i] /= points;
  }
  for (long long i = 0; i < own; ++i) wrong = fmax(wrong, cabs(slab[i] - input(rank * own + i)));
  const uint64_t digest = digest_of_all(digest_bytes(digest_start, slab, (size_t)own * sizeof(Number)), MPI_COMM_WORLD);

  /* A plane wave becomes one peak, at its own wave numbers. */
  const double turn = 2 * acos(-1.0) / (double)side;
  for (long long i = 0; i < own; ++i) {
    const long long z = rank * planes + i / (side * side), y = i / side % side, x = i % side;
    const double phase = turn * (double)((z + 2 * y % side * 1 + 3 * x) % side);
    slab[i] = cos(phase) + sin(phase) * I;
  }
  transform_planes(slab, -1);
  transpose(slab, turned, sent, got);
  transform_lines(turned, -1);
  for (long long i = 0; i < own; ++i) {
    const long long x = rank * planes + i / (side * side), y = i / side % side, z = i % side;
    const int peak = z == 1 % side && y == 2 % side && x == 3 % side;
    wrong = fmax(wrong, cabs(turned[i] / points - (peak ? 1 : 0)));
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const int verified = wrong < 1e-12;
  if (rank == 0)
    printf("fft: size %lld repetitions %lld digest %016llx %s\n", side, repetitions, (unsigned long long)digest,
           verified ? "verified" : "WRONG");
  free(memory);
  MPI_Finalize();
  return verified ? 0 : 1;
}
