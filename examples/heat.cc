// The heat equation on a rectangle, by explicit steps, on a Cartesian grid of ranks: persistent requests, columns sent
// as vectors out of the middle of the field. An explicit step does the same arithmetic however the field is divided, so
// that rank 0 verifies the result bit by bit against its own serial solution.
#include <algorithm>
#include <array>
#include <vector>

#include "program.h"

namespace {

long long width = 96, height = 64, steps = 100;
constexpr double diffusion = 0.2;

// A block of the field with one halo cell on each side, row by row.
struct Block {
  long long first_x, first_y, columns, rows;
  std::vector<double> cells = std::vector<double>(static_cast<size_t>((columns + 2) * (rows + 2)));

  double* at(long long x, long long y) { return &cells[static_cast<size_t>((y + 1) * (columns + 2) + x + 1)]; }
};

double initial(long long x, long long y) {
  return static_cast<double>(scrambled(static_cast<uint64_t>(y * width + x)) >> 11) * 0x1p-53 * 100;
}

void fill(Block& block) {
  for (long long y = 0; y < block.rows; ++y)
    for (long long x = 0; x < block.columns; ++x) *block.at(x, y) = initial(block.first_x + x, block.first_y + y);
}

void step(Block& from, Block& to) {
  for (long long y = 0; y < from.rows; ++y)
    for (long long x = 0; x < from.columns; ++x) {
      const double neighbours = *from.at(x - 1, y) + *from.at(x + 1, y) + (*from.at(x, y - 1) + *from.at(x, y + 1));
      *to.at(x, y) = *from.at(x, y) + diffusion * (neighbours - 4 * *from.at(x, y));
    }
}

// The four exchanges of one block, ready to start.
class Exchange {
 public:
  Exchange(Block& block, MPI_Comm grid) {
    const int columns = static_cast<int>(block.columns), rows = static_cast<int>(block.rows);
    MPI_Type_vector(rows, 1, columns + 2, MPI_DOUBLE, &column_);
    MPI_Type_commit(&column_);
    int up, down, left, right;
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Recv_init(block.at(0, -1), columns, MPI_DOUBLE, up, 1, grid, &requests_[0]);
    MPI_Recv_init(block.at(0, rows), columns, MPI_DOUBLE, down, 2, grid, &requests_[1]);
    MPI_Recv_init(block.at(-1, 0), 1, column_, left, 3, grid, &requests_[2]);
    MPI_Recv_init(block.at(columns, 0), 1, column_, right, 4, grid, &requests_[3]);
    MPI_Send_init(block.at(0, rows - 1), columns, MPI_DOUBLE, down, 1, grid, &requests_[4]);
    MPI_Send_init(block.at(0, 0), columns, MPI_DOUBLE, up, 2, grid, &requests_[5]);
    MPI_Send_init(block.at(columns - 1, 0), 1, column_, right, 3, grid, &requests_[6]);
    MPI_Send_init(block.at(0, 0), 1, column_, left, 4, grid, &requests_[7]);
  }
  ~Exchange() {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
    MPI_Type_free(&column_);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void run() {
    MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  MPI_Datatype column_;
  std::array<MPI_Request, 8> requests_;
};

std::vector<double> serial_solution() {
  Block one{0, 0, width, height}, other{0, 0, width, height};
  fill(one);
  for (long long i = 0; i < steps; ++i) {
    step(one, other);
    std::swap(one.cells, other.cells);
  }
  std::vector<double> field;
  for (long long y = 0; y < height; ++y) field.insert(field.end(), one.at(0, y), one.at(width, y));
  return field;
}

Block own_block(MPI_Comm grid, const std::array<int, 2>& dims, int rank) {
  std::array<int, 2> place;
  MPI_Cart_coords(grid, rank, 2, place.data());
  const long long x = share_begin(width, place[1], dims[1]), y = share_begin(height, place[0], dims[0]);
  return {x, y, share_begin(width, place[1] + 1, dims[1]) - x, share_begin(height, place[0] + 1, dims[0]) - y};
}

// The whole field on rank 0, row by row; empty elsewhere.
std::vector<double> gather(Block& block, MPI_Comm grid, const std::array<int, 2>& dims, int rank, int ranks) {
  std::vector<double> inner;
  for (long long y = 0; y < block.rows; ++y) inner.insert(inner.end(), block.at(0, y), block.at(block.columns, y));
  if (rank != 0) {
    MPI_Send(inner.data(), static_cast<int>(inner.size()), MPI_DOUBLE, 0, 5, grid);
    return {};
  }
  std::vector<double> field(static_cast<size_t>(width * height));
  for (int from = 0; from < ranks; ++from) {
    const Block part = own_block(grid, dims, from);
    const int whole[] = {static_cast<int>(height), static_cast<int>(width)};
    const int size[] = {static_cast<int>(part.rows), static_cast<int>(part.columns)};
    const int start[] = {static_cast<int>(part.first_y), static_cast<int>(part.first_x)};
    MPI_Datatype place;
    MPI_Type_create_subarray(2, whole, size, start, MPI_ORDER_C, MPI_DOUBLE, &place);
    MPI_Type_commit(&place);
    if (from == 0)
      MPI_Sendrecv(inner.data(), static_cast<int>(inner.size()), MPI_DOUBLE, 0, 5, field.data(), 1, place, 0, 5, grid,
                   MPI_STATUS_IGNORE);
    else
      MPI_Recv(field.data(), 1, place, from, 5, grid, MPI_STATUS_IGNORE);
    MPI_Type_free(&place);
  }
  return field;
}

int verify(const std::vector<double>& field) {
  const std::vector<double> expected = serial_solution();
  const bool verified = memcmp(field.data(), expected.data(), field.size() * sizeof(double)) == 0;
  double checksum = 0;
  for (double cell : field) checksum += cell;
  printf("heat: %lld x %lld steps %lld checksum %.17g digest %016llx %s\n", width, height, steps, checksum,
         static_cast<unsigned long long>(digest_bytes(digest_start, field.data(), field.size() * sizeof(double))),
         verified ? "verified" : "WRONG");
  return verified ? 0 : 1;
}

int run() {
  int ranks, rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::array<int, 2> dims{};
  MPI_Dims_create(ranks, 2, dims.data());
  if (dims[0] > height || dims[1] > width) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
      fprintf(stderr, "heat: dividing the field: %d x %d ranks need a cell each: choose a larger --width, --height\n",
              dims[0], dims[1]);
    return 2;
  }
  const std::array<int, 2> periodic{};
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims.data(), periodic.data(), 0, &grid);
  MPI_Comm_rank(grid, &rank);

  Block now = own_block(grid, dims, rank), next = own_block(grid, dims, rank);
  fill(now);
  {
    // Persistent requests keep their buffers, so that the two blocks take turns.
    Exchange of_now(now, grid), of_next(next, grid);
    for (long long i = 0; i < steps; ++i) {
      (i % 2 == 0 ? of_now : of_next).run();
      if (i % 2 == 0)
        step(now, next);
      else
        step(next, now);
    }
  }
  const std::vector<double> field = gather(steps % 2 == 0 ? now : next, grid, dims, rank, ranks);
  int code = rank == 0 ? verify(field) : 0;
  MPI_Bcast(&code, 1, MPI_INT, 0, grid);
  MPI_Comm_free(&grid);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Option options[] = {
      {"width", &width, 1, 20000, "cells across"},
      {"height", &height, 1, 20000, "cells down"},
      {"steps", &steps, 0, 1000000, "time steps"},
  };
  read_options(argc, argv, "Spreads heat over a rectangle.", options, 3);
  const int code = run();
  MPI_Finalize();
  return code;
}
