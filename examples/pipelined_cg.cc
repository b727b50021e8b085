// Pipelined conjugate gradients (P. Ghysels, W. Vanroose, "Hiding global synchronization latency in the preconditioned
// Conjugate Gradient algorithm", Parallel Computing 40(7), 2014, algorithm 3) for the five-point Laplacian of a square,
// on a Cartesian grid of ranks. Both inner products of a step travel in one MPI_Iallreduce while the stencil is
// applied; halo columns are vectors out of the middle of the field.
//
// Verified by the residual, computed anew from the result: with the known solution of the right-hand side it bounds the
// error, since the smallest eigenvalue of the matrix is 8 sin^2(pi / (2 (side + 1))).
#include <array>
#include <cmath>
#include <vector>

#include "program.h"

namespace {

long long side = 64, iterations = 400;

// One rank's rectangle of a field over the square, with a halo cell on each side; outside the square are zeros.
class Field {
 public:
  Field(int columns, int rows) : columns_(columns), cells_(static_cast<size_t>(columns + 2) * (rows + 2)) {}
  double& at(int x, int y) { return cells_[static_cast<size_t>(y + 1) * (columns_ + 2) + x + 1]; }
  double at(int x, int y) const { return cells_[static_cast<size_t>(y + 1) * (columns_ + 2) + x + 1]; }

 private:
  int columns_;
  std::vector<double> cells_;
};

// Where this rank's rectangle lies, and how it meets its neighbours.
class Part {
 public:
  Part() {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::array<int, 2> shape{}, period{}, place{};
    MPI_Dims_create(ranks, 2, shape.data());
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape.data(), period.data(), 1, &grid_);
    int rank;
    MPI_Comm_rank(grid_, &rank);
    MPI_Cart_coords(grid_, rank, 2, place.data());
    MPI_Cart_shift(grid_, 0, 1, &up_, &down_);
    MPI_Cart_shift(grid_, 1, 1, &left_, &right_);
    first_x = share_begin(side, place[1], shape[1]);
    first_y = share_begin(side, place[0], shape[0]);
    columns = static_cast<int>(share_begin(side, place[1] + 1, shape[1]) - first_x);
    rows = static_cast<int>(share_begin(side, place[0] + 1, shape[0]) - first_y);
    fits = shape[0] <= side && shape[1] <= side;
    MPI_Type_vector(rows, 1, columns + 2, MPI_DOUBLE, &column_);
    MPI_Type_commit(&column_);
  }
  ~Part() {
    MPI_Type_free(&column_);
    MPI_Comm_free(&grid_);
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  // out = A in, with A = 4 on the diagonal, -1 towards the four neighbours.
  void multiply(Field& in, Field& out) const {
    std::array<MPI_Request, 8> requests;
    MPI_Irecv(&in.at(0, -1), columns, MPI_DOUBLE, up_, 1, grid_, &requests[0]);
    MPI_Irecv(&in.at(0, rows), columns, MPI_DOUBLE, down_, 2, grid_, &requests[1]);
    MPI_Irecv(&in.at(-1, 0), 1, column_, left_, 3, grid_, &requests[2]);
    MPI_Irecv(&in.at(columns, 0), 1, column_, right_, 4, grid_, &requests[3]);
    MPI_Isend(&in.at(0, rows - 1), columns, MPI_DOUBLE, down_, 1, grid_, &requests[4]);
    MPI_Isend(&in.at(0, 0), columns, MPI_DOUBLE, up_, 2, grid_, &requests[5]);
    MPI_Isend(&in.at(columns - 1, 0), 1, column_, right_, 3, grid_, &requests[6]);
    MPI_Isend(&in.at(0, 0), 1, column_, left_, 4, grid_, &requests[7]);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x)
        out.at(x, y) = 4 * in.at(x, y) - (in.at(x - 1, y) + in.at(x + 1, y) + in.at(x, y - 1) + in.at(x, y + 1));
  }

  double own_dot(const Field& a, const Field& b) const {
    double sum = 0;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) sum += a.at(x, y) * b.at(x, y);
    return sum;
  }
  double dot(const Field& a, const Field& b) const {
    double own = own_dot(a, b), all;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, grid_);
    return all;
  }
  // to = x_factor * to + from
  void scale_add(Field& to, double factor, const Field& from) const {
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) to.at(x, y) = factor * to.at(x, y) + from.at(x, y);
  }
  // to = to + factor * from
  void add_scaled(Field& to, double factor, const Field& from) const {
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) to.at(x, y) += factor * from.at(x, y);
  }
  Field field() const { return Field(columns, rows); }
  MPI_Comm grid() const { return grid_; }

  long long first_x = 0, first_y = 0;
  int columns = 0, rows = 0;
  bool fits = false;

 private:
  MPI_Comm grid_ = MPI_COMM_NULL;
  MPI_Datatype column_ = MPI_DATATYPE_NULL;
  int up_ = 0, down_ = 0, left_ = 0, right_ = 0;
};

// Solves A x = b from x = 0; returns the steps done. p, s = A p and z = A s are carried along by recurrences.
long long solve(const Part& part, const Field& b, Field& x) {
  Field r = b, w = part.field(), p = part.field(), s = part.field(), z = part.field(), q = part.field();
  part.multiply(r, w);
  double gamma_before = 1, alpha_before = 1, enough = 0;
  long long step = 0;
  for (; step < iterations; ++step) {
    const std::array<double, 2> own = {part.own_dot(r, r), part.own_dot(w, r)};
    std::array<double, 2> sums;
    MPI_Request summing;
    MPI_Iallreduce(own.data(), sums.data(), 2, MPI_DOUBLE, MPI_SUM, part.grid(), &summing);
    part.multiply(w, q);
    MPI_Wait(&summing, MPI_STATUS_IGNORE);
    const double gamma = sums[0], delta = sums[1];
    if (step == 0) enough = gamma * 1e-24;
    if (gamma <= enough) break;
    const double beta = step == 0 ? 0 : gamma / gamma_before;
    const double alpha = step == 0 ? gamma / delta : gamma / (delta - beta * gamma / alpha_before);
    part.scale_add(z, beta, q);
    part.scale_add(s, beta, w);
    part.scale_add(p, beta, r);
    part.add_scaled(x, alpha, p);
    part.add_scaled(r, -alpha, s);
    part.add_scaled(w, -alpha, z);
    gamma_before = gamma;
    alpha_before = alpha;
  }
  return step;
}

// The solution that the right-hand side is made from: between 0.5 and 1.5, different everywhere.
double known(long long x, long long y) {
  return 0.5 + static_cast<double>(scrambled(static_cast<uint64_t>(y * side + x)) >> 11) * 0x1p-53;
}

int run() {
  const Part part;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!part.fits) {
    if (rank == 0)
      fprintf(stderr, "pipelined_cg: dividing the square: more ranks than cells: choose a larger --size\n");
    return 2;
  }
  Field solution = part.field(), b = part.field(), x = part.field(), residual = part.field();
  for (int j = 0; j < part.rows; ++j)
    for (int i = 0; i < part.columns; ++i) solution.at(i, j) = known(part.first_x + i, part.first_y + j);
  part.multiply(solution, b);
  const long long steps = solve(part, b, x);

  part.multiply(x, residual);
  part.scale_add(residual, -1, b);
  part.add_scaled(solution, -1, x);
  const double left = std::sqrt(part.dot(residual, residual)), error = std::sqrt(part.dot(solution, solution));
  const double sine = std::sin(std::acos(-1.0) / (2.0 * static_cast<double>(side + 1)));
  const bool small = left <= 1e-8 * std::sqrt(part.dot(b, b)),
             bounded = error <= left / (8 * sine * sine) * 1.001 + 1e-9;
  const bool verified = small && bounded;
  if (rank == 0) {
    printf("pipelined_cg: size %lld steps %lld residual %.17g error %.17g %s\n", side, steps, left, error,
           verified ? "verified" : "NOT VERIFIED");
  }
  return verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct Option options[] = {
      {"size", &side, 2, 20000, "cells along each edge of the square"},
      {"iterations", &iterations, 1, 1000000, "steps at most"},
  };
  read_options(argc, argv, "Solves a Poisson equation on a square by pipelined conjugate gradients.", options, 2);
  const int code = run();
  MPI_Finalize();
  return code;
}
