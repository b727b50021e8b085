#include "replicate/mpi/collective/algorithms.h"

#include <functional>
#include <numeric>
#include <utility>

#include "real_functions.h"
#include "replicate/mpi/collective/neighbours.h"

namespace holdfast::replicate::algorithm {

namespace {

/// One rank's part of a buffer.
struct Block {
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};
using Blocks = std::function<Block(int rank)>;

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  real().Type_get_extent(type, &lower, &extent);
  return extent;
}

void* offset(const void* buffer, MPI_Aint bytes) {
  return static_cast<std::byte*>(const_cast<void*>(buffer)) + bytes;
}

bool empty(const Block& block) {
  int size = 0;
  real().Type_size(block.type, &size);
  return size == 0 || block.count == 0;
}

void send(Schedule& schedule, const Block& block, int to) {
  if (!empty(block)) schedule.send(block.buffer, block.count, block.type, to);
}

void receive(Schedule& schedule, const Block& block, int from) {
  if (!empty(block)) schedule.receive(block.buffer, block.count, block.type, from);
}

void copy(Schedule& schedule, const Block& from, const Block& to) {
  if (!empty(from) && from.buffer != to.buffer) {
    schedule.copy(from.buffer, from.count, from.type, to.buffer, to.count, to.type);
  }
}

Blocks even(const void* buffer, int count, MPI_Datatype type) {
  const MPI_Aint step = extent_of(type) * count;
  return [=](int rank) { return Block{offset(buffer, step * rank), count, type}; };
}

Blocks uneven(const void* buffer, const int counts[], const int displacements[], MPI_Datatype type) {
  const MPI_Aint extent = extent_of(type);
  return [=](int rank) { return Block{offset(buffer, extent * displacements[rank]), counts[rank], type}; };
}

/// Across groups the root's is MPI_ROOT, and MPI_PROC_NULL that of the others in its group (MPI 3.1, section 5.2.3).
bool at_root(const Schedule& schedule, int root) {
  return schedule.across() ? root == MPI_ROOT : root == schedule.rank();
}

/// Partners in an order that starts at the next rank, so that not all begin with rank 0; across groups all of the
/// other.
template <class Do>
void for_others(const Schedule& schedule, Do what) {
  const int count = schedule.others();
  for (int step = schedule.across() ? 0 : 1; step < count; ++step) what((schedule.rank() + step) % count);
}

void gather_blocks(Schedule& schedule, const Block& mine, const Blocks& all, bool in_place, int root) {
  if (root == MPI_PROC_NULL) return;
  if (!at_root(schedule, root)) return send(schedule, mine, root);
  for_others(schedule, [&](int rank) { receive(schedule, all(rank), rank); });
  if (!in_place && !schedule.across()) copy(schedule, mine, all(root));
}

void scatter_blocks(Schedule& schedule, const Blocks& all, const Block& mine, bool in_place, int root) {
  if (root == MPI_PROC_NULL) return;
  if (!at_root(schedule, root)) return receive(schedule, mine, root);
  for_others(schedule, [&](int rank) { send(schedule, all(rank), rank); });
  if (!in_place && !schedule.across()) copy(schedule, all(root), mine);
}

void allgather_blocks(Schedule& schedule, const Block& mine, const Blocks& all, bool in_place) {
  const Block own = in_place ? all(schedule.rank()) : mine;
  for_others(schedule, [&](int rank) { receive(schedule, all(rank), rank); });
  for_others(schedule, [&](int rank) { send(schedule, own, rank); });
  if (!in_place && !schedule.across()) copy(schedule, mine, all(schedule.rank()));
}

void exchange_blocks(Schedule& schedule, const Blocks& out, const Blocks& in) {
  for_others(schedule, [&](int rank) { receive(schedule, in(rank), rank); });
  for_others(schedule, [&](int rank) { send(schedule, out(rank), rank); });
  if (!schedule.across()) copy(schedule, out(schedule.rank()), in(schedule.rank()));
}

void exchange_with_neighbours(Schedule& schedule, const Blocks& out, const Blocks& in) {
  const NeighbourLists& lists = topology_of(schedule.comm()).neighbours;
  for (const Neighbour& from : lists.in) receive(schedule, in(from.block), from.rank);
  for (const Neighbour& to : lists.out) send(schedule, out(to.block), to.rank);
}

/// The blocks of a buffer that is both sent and received: copies of them, made before anything arrives.
Blocks copies_of(Schedule& schedule, const Blocks& blocks) {
  std::vector<Block> copies;
  for (int rank = 0; rank < schedule.size(); ++rank) {
    Block block = blocks(rank);
    Block twin{schedule.scratch(block.count, block.type), block.count, block.type};
    copy(schedule, block, twin);
    copies.push_back(twin);
  }
  return [copies](int rank) { return copies[static_cast<std::size_t>(rank)]; };
}

/// Binomial tree. The result is in the returned buffer at rank 0, anything elsewhere. `in` is not changed.
const void* reduce_to_zero(Schedule& schedule, const void* in, int count, MPI_Datatype type, MPI_Op op) {
  const void* sum = in;
  void* other = nullptr;
  for (int bit = 1; bit < schedule.size(); bit <<= 1) {
    if (schedule.rank() & bit) {
      schedule.send(sum, count, type, schedule.rank() - bit);
      break;
    }
    if (schedule.rank() + bit >= schedule.size()) continue;
    if (!other) other = schedule.scratch(count, type);
    schedule.receive(other, count, type, schedule.rank() + bit);
    schedule.next_round();
    schedule.combine(sum, other, count, type, op);  // lower ranks on the left
    void* const free = sum == in ? nullptr : const_cast<void*>(sum);
    sum = std::exchange(other, free);
  }
  schedule.next_round();
  return sum;
}

void double_recursively(Schedule& schedule, void* rb, int count, MPI_Datatype type, MPI_Op op) {
  void* sum = rb;
  void* other = schedule.scratch(count, type);
  for (int bit = 1; bit < schedule.size(); bit <<= 1) {
    const int partner = schedule.rank() ^ bit;
    schedule.receive(other, count, type, partner);
    schedule.send(sum, count, type, partner);
    schedule.next_round();
    if (partner < schedule.rank()) {
      schedule.combine(other, sum, count, type, op);
    } else {
      schedule.combine(sum, other, count, type, op);
      std::swap(sum, other);
    }
  }
  copy(schedule, {sum, count, type}, {rb, count, type});
}

void send_to_others(Schedule& schedule, const Block& block) {
  for_others(schedule, [&](int rank) { send(schedule, block, rank); });
}

/// Across groups: what all ranks of the other one have sent becomes one in `result`, lower ranks on the left.
void combine_others(Schedule& schedule, void* result, int count, MPI_Datatype type, MPI_Op op) {
  std::vector<void*> parts;
  for (int rank = 0; rank < schedule.others(); ++rank) {
    parts.push_back(rank + 1 < schedule.others() ? schedule.scratch(count, type) : result);
    receive(schedule, {parts.back(), count, type}, rank);
  }
  schedule.next_round();
  for (int rank = schedule.others() - 2; rank >= 0; --rank)
    schedule.combine(parts[static_cast<std::size_t>(rank)], result, count, type, op);
}

/// Nobody knows how the other group divides what it gets, so each gets it whole and keeps its part.
void reduce_and_scatter_across(Schedule& schedule, const void* sb, void* rb, const int counts[], int total,
                               MPI_Datatype type, MPI_Op op) {
  send_to_others(schedule, {const_cast<void*>(sb), total, type});
  void* const whole = schedule.scratch(total, type);
  combine_others(schedule, whole, total, type, op);
  const int before = std::accumulate(counts, counts + schedule.rank(), 0);
  const int own = counts[schedule.rank()];
  copy(schedule, {offset(whole, extent_of(type) * before), own, type}, {rb, own, type});
}

}  // namespace

void barrier(Schedule& schedule) {
  if (schedule.across()) {
    for_others(schedule, [&](int rank) { schedule.receive(nullptr, 0, MPI_BYTE, rank); });
    for_others(schedule, [&](int rank) { schedule.send(nullptr, 0, MPI_BYTE, rank); });
    return;
  }
  for (int distance = 1; distance < schedule.size(); distance <<= 1) {
    schedule.receive(nullptr, 0, MPI_BYTE, (schedule.rank() - distance + schedule.size()) % schedule.size());
    schedule.send(nullptr, 0, MPI_BYTE, (schedule.rank() + distance) % schedule.size());
    schedule.next_round();
  }
}

void broadcast(Schedule& schedule, void* buffer, int count, MPI_Datatype type, int root) {
  const Block block{buffer, count, type};
  if (root == MPI_PROC_NULL) return;
  if (schedule.across())
    return at_root(schedule, root) ? send_to_others(schedule, block) : receive(schedule, block, root);
  const int size = schedule.size();
  const int relative = (schedule.rank() - root + size) % size;
  int bit = 1;
  for (; bit < size && !(relative & bit); bit <<= 1) {
  }
  if (relative != 0) receive(schedule, block, (relative - bit + root) % size);
  schedule.next_round();
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (relative + bit < size) send(schedule, block, (relative + bit + root) % size);
  }
}

void gather(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, int root) {
  const Blocks all = at_root(schedule, root) ? even(rb, rc, rt) : Blocks();
  gather_blocks(schedule, {const_cast<void*>(sb), sc, st}, all, sb == MPI_IN_PLACE, root);
}

void gatherv(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[],
             MPI_Datatype rt, int root) {
  const Blocks all = at_root(schedule, root) ? uneven(rb, rc, rd, rt) : Blocks();
  gather_blocks(schedule, {const_cast<void*>(sb), sc, st}, all, sb == MPI_IN_PLACE, root);
}

void scatter(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt, int root) {
  const Blocks all = at_root(schedule, root) ? even(sb, sc, st) : Blocks();
  scatter_blocks(schedule, all, {rb, rc, rt}, rb == MPI_IN_PLACE, root);
}

void scatterv(Schedule& schedule, const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb, int rc,
              MPI_Datatype rt, int root) {
  const Blocks all = at_root(schedule, root) ? uneven(sb, sc, sd, st) : Blocks();
  scatter_blocks(schedule, all, {rb, rc, rt}, rb == MPI_IN_PLACE, root);
}

void allgather(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt) {
  allgather_blocks(schedule, {const_cast<void*>(sb), sc, st}, even(rb, rc, rt), sb == MPI_IN_PLACE);
}

void allgatherv(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[], const int rd[],
                MPI_Datatype rt) {
  allgather_blocks(schedule, {const_cast<void*>(sb), sc, st}, uneven(rb, rc, rd, rt), sb == MPI_IN_PLACE);
}

void alltoall(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt) {
  const Blocks in = even(rb, rc, rt);
  exchange_blocks(schedule, sb == MPI_IN_PLACE ? copies_of(schedule, in) : even(sb, sc, st), in);
}

void alltoallv(Schedule& schedule, const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb,
               const int rc[], const int rd[], MPI_Datatype rt) {
  const Blocks in = uneven(rb, rc, rd, rt);
  exchange_blocks(schedule, sb == MPI_IN_PLACE ? copies_of(schedule, in) : uneven(sb, sc, sd, st), in);
}

void alltoallw(Schedule& schedule, const void* sb, const int sc[], const int sd[], const MPI_Datatype st[], void* rb,
               const int rc[], const int rd[], const MPI_Datatype rt[]) {
  const Blocks in = [=](int rank) { return Block{offset(rb, rd[rank]), rc[rank], rt[rank]}; };
  const Blocks out = [=](int rank) { return Block{offset(sb, sd[rank]), sc[rank], st[rank]}; };
  exchange_blocks(schedule, sb == MPI_IN_PLACE ? copies_of(schedule, in) : out, in);
}

void reduce(Schedule& schedule, const void* sb, void* rb, int count, MPI_Datatype type, MPI_Op op, int root) {
  if (count == 0 || root == MPI_PROC_NULL) return;
  if (schedule.across() && root == MPI_ROOT) return combine_others(schedule, rb, count, type, op);
  if (schedule.across()) return send(schedule, {const_cast<void*>(sb), count, type}, root);
  const void* sum = reduce_to_zero(schedule, sb == MPI_IN_PLACE ? rb : sb, count, type, op);
  if (schedule.rank() == 0 && root == 0) {
    copy(schedule, {const_cast<void*>(sum), count, type}, {rb, count, type});
  } else if (schedule.rank() == 0) {
    schedule.send(sum, count, type, root);
  } else if (schedule.rank() == root) {
    schedule.receive(rb, count, type, 0);
  }
}

void allreduce(Schedule& schedule, const void* sb, void* rb, int count, MPI_Datatype type, MPI_Op op) {
  if (count == 0) return;
  if (schedule.across()) {
    send_to_others(schedule, {const_cast<void*>(sb), count, type});
    return combine_others(schedule, rb, count, type, op);
  }
  const bool power_of_two = (schedule.size() & (schedule.size() - 1)) == 0;
  if (power_of_two) {
    if (sb != MPI_IN_PLACE) copy(schedule, {const_cast<void*>(sb), count, type}, {rb, count, type});
    double_recursively(schedule, rb, count, type, op);
    return;
  }
  reduce(schedule, sb, rb, count, type, op, 0);
  schedule.next_round();
  broadcast(schedule, rb, count, type, 0);
}

void reduce_scatter(Schedule& schedule, const void* sb, void* rb, const int counts[], MPI_Datatype type, MPI_Op op) {
  const int total = std::accumulate(counts, counts + schedule.size(), 0);
  if (total == 0) return;
  if (schedule.across()) return reduce_and_scatter_across(schedule, sb, rb, counts, total, type, op);
  const void* sum = reduce_to_zero(schedule, sb == MPI_IN_PLACE ? rb : sb, total, type, op);
  const MPI_Aint extent = extent_of(type);
  int before = 0;
  for (int rank = 0; rank < schedule.size(); before += counts[rank++]) {
    const Block block{offset(sum, extent * before), counts[rank], type};
    const Block result{rb, counts[rank], type};
    if (schedule.rank() == 0 && rank == 0) copy(schedule, block, result);
    if (schedule.rank() == 0 && rank != 0) send(schedule, block, rank);
    if (schedule.rank() == rank && rank != 0) receive(schedule, result, 0);
  }
}

void reduce_scatter_block(Schedule& schedule, const void* sb, void* rb, int count, MPI_Datatype type, MPI_Op op) {
  const std::vector<int> counts(static_cast<std::size_t>(schedule.size()), count);
  reduce_scatter(schedule, sb, rb, counts.data(), type, op);
}

void scan(Schedule& schedule, const void* sb, void* rb, int count, MPI_Datatype type, MPI_Op op) {
  if (count == 0) return;
  if (sb != MPI_IN_PLACE) copy(schedule, {const_cast<void*>(sb), count, type}, {rb, count, type});
  if (schedule.rank() > 0) {
    void* const before = schedule.scratch(count, type);
    schedule.receive(before, count, type, schedule.rank() - 1);
    schedule.next_round();
    schedule.combine(before, rb, count, type, op);
  }
  if (schedule.rank() + 1 < schedule.size()) schedule.send(rb, count, type, schedule.rank() + 1);
}

void exscan(Schedule& schedule, const void* sb, void* rb, int count, MPI_Datatype type, MPI_Op op) {
  if (count == 0) return;
  void* const mine = schedule.scratch(count, type);
  copy(schedule, {sb == MPI_IN_PLACE ? rb : const_cast<void*>(sb), count, type}, {mine, count, type});
  if (schedule.rank() > 0) {
    schedule.receive(rb, count, type, schedule.rank() - 1);
    schedule.next_round();
    schedule.combine(rb, mine, count, type, op);
  }
  if (schedule.rank() + 1 < schedule.size()) schedule.send(mine, count, type, schedule.rank() + 1);
}

void neighbor_allgather(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc,
                        MPI_Datatype rt) {
  const Block mine{const_cast<void*>(sb), sc, st};
  exchange_with_neighbours(
      schedule, [=](int) { return mine; }, even(rb, rc, rt));
}

void neighbor_allgatherv(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, const int rc[],
                         const int rd[], MPI_Datatype rt) {
  const Block mine{const_cast<void*>(sb), sc, st};
  exchange_with_neighbours(
      schedule, [=](int) { return mine; }, uneven(rb, rc, rd, rt));
}

void neighbor_alltoall(Schedule& schedule, const void* sb, int sc, MPI_Datatype st, void* rb, int rc, MPI_Datatype rt) {
  exchange_with_neighbours(schedule, even(sb, sc, st), even(rb, rc, rt));
}

void neighbor_alltoallv(Schedule& schedule, const void* sb, const int sc[], const int sd[], MPI_Datatype st, void* rb,
                        const int rc[], const int rd[], MPI_Datatype rt) {
  exchange_with_neighbours(schedule, uneven(sb, sc, sd, st), uneven(rb, rc, rd, rt));
}

void neighbor_alltoallw(Schedule& schedule, const void* sb, const int sc[], const MPI_Aint sd[],
                        const MPI_Datatype st[], void* rb, const int rc[], const MPI_Aint rd[],
                        const MPI_Datatype rt[]) {
  const Blocks in = [=](int block) { return Block{offset(rb, rd[block]), rc[block], rt[block]}; };
  const Blocks out = [=](int block) { return Block{offset(sb, sd[block]), sc[block], st[block]}; };
  exchange_with_neighbours(schedule, out, in);
}

}  // namespace holdfast::replicate::algorithm
