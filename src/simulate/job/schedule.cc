#include <algorithm>
#include <array>

#include "simulate/job/builder.h"

namespace holdfast::simulate::job {
namespace {

constexpr std::array<std::string_view, operations> operation_names{"barrier",
                                                                   "bcast",
                                                                   "gather",
                                                                   "gatherv",
                                                                   "scatter",
                                                                   "scatterv",
                                                                   "allgather",
                                                                   "allgatherv",
                                                                   "alltoall",
                                                                   "alltoallv",
                                                                   "alltoallw",
                                                                   "reduce",
                                                                   "allreduce",
                                                                   "scan",
                                                                   "exscan",
                                                                   "reduce_scatter",
                                                                   "reduce_scatter_block",
                                                                   "neighbours"};
constexpr std::array<std::string_view, algorithms> algorithm_names{"linear",
                                                                   "linear-at-once",
                                                                   "linear-synchronous",
                                                                   "chain",
                                                                   "binary",
                                                                   "in-order-binary",
                                                                   "split-binary",
                                                                   "binomial",
                                                                   "knomial-4",
                                                                   "scatter-recursive-doubling",
                                                                   "scatter-ring",
                                                                   "recursive-doubling",
                                                                   "recursive-halving",
                                                                   "ring",
                                                                   "rabenseifner",
                                                                   "bruck",
                                                                   "pairwise",
                                                                   "neighbour-exchange",
                                                                   "exchange",
                                                                   "butterfly",
                                                                   "dissemination",
                                                                   "tree",
                                                                   "scattered",
                                                                   "reduce+bcast",
                                                                   "reduce+scatter",
                                                                   "gather+bcast",
                                                                   "two-level",
                                                                   "in-network"};

/// What an MPI does where an algorithm is not for so few ranks or elements.
Algorithm fallback(const Collective& what, Algorithm algorithm, Rules rules) {
  const std::uint64_t elements = what.bytes / element_bytes(what.bytes);
  const bool power = std::has_single_bit(what.size);
  if (what.operation == Operation::allreduce && rules == Rules::openmpi) {
    if (algorithm == Algorithm::rabenseifner && elements < power_within(what.size)) return Algorithm::linear;
    if (algorithm == Algorithm::ring && elements < what.size) return Algorithm::recursive_doubling;
  }
  if (what.operation == Operation::reduce && algorithm == Algorithm::rabenseifner && elements < power_within(what.size))
    return rules == Rules::openmpi ? Algorithm::linear : Algorithm::binomial;
  if (what.operation == Operation::bcast && rules == Rules::openmpi) {
    const bool scatters = algorithm == Algorithm::scatter_recursive_doubling || algorithm == Algorithm::scatter_ring;
    if (scatters && elements < what.size) return Algorithm::linear;
    if (algorithm == Algorithm::split_binary && elements < 2) return Algorithm::chain;
  }
  if (what.operation == Operation::allgather && algorithm == Algorithm::recursive_doubling && !power)
    return Algorithm::bruck;
  if (algorithm == Algorithm::neighbour_exchange && what.size % 2 == 1) return Algorithm::ring;
  const bool gathers = what.operation == Operation::allgather || what.operation == Operation::allgatherv;
  if (algorithm == Algorithm::exchange && gathers && what.size != 2) return Algorithm::ring;
  if (algorithm == Algorithm::exchange && !power) return Algorithm::pairwise;
  return algorithm;
}

Collective part_of(const Collective& what, Operation operation, std::uint64_t bytes, std::uint32_t root = 0) {
  Collective part = what;
  part.operation = operation;
  part.bytes = bytes;
  part.root = root;
  part.to.clear();
  part.from.clear();
  return part;
}

void add(const Collective& what, Algorithm algorithm, Rules rules, Builder& builder);

/// A collective that is a step of another, by the same rules.
void add_chosen(const Collective& what, Rules rules, Builder& builder) {
  if (what.size > 1) add(what, fallback(what, choose(rules, what), rules), rules, builder);
}

std::uint64_t total_of(const Collective& what) {
  return what.from.empty() ? what.bytes * what.size : sum_of(what.from);
}

void add_reduce_and_bcast(const Collective& what, Algorithm algorithm, Rules rules, Builder& builder) {
  const Collective down = part_of(what, Operation::bcast, what.bytes);
  const Collective up = part_of(what, Operation::reduce, what.bytes);
  if (algorithm == Algorithm::linear || what.nonblocking) {
    const Algorithm both = what.nonblocking ? Algorithm::binomial : Algorithm::linear;
    add_reduction(up, both, rules, builder);
    return add_broadcast(down, both, builder);
  }
  add_chosen(up, rules, builder);
  add_chosen(down, rules, builder);
}

void add_reduce_and_scatter(const Collective& what, Rules rules, Builder& builder) {
  add_chosen(part_of(what, Operation::reduce, total_of(what)), rules, builder);
  Collective scatter = what;
  scatter.root = 0;
  scatter.operation = what.from.empty() ? Operation::scatter : Operation::scatterv;
  scatter.bytes = what.from_rank(what.me);
  scatter.to = what.from;
  scatter.from.clear();
  add_chosen(scatter, rules, builder);
}

void add_gather_and_bcast(const Collective& what, Rules rules, Builder& builder) {
  Collective gather = what;
  gather.root = 0;
  gather.operation = Operation::gatherv;
  gather.bytes = what.from_rank(what.me);
  add_gather(gather, Algorithm::linear, builder);
  add_chosen(part_of(what, Operation::bcast, total_of(what)), rules, builder);
}

// ---- two levels: the ranks of a host, and the first rank of each host

struct Levels {
  std::vector<std::uint32_t> here;     ///< ranks of my host
  std::vector<std::uint32_t> leaders;  ///< the first of each host
};

Levels levels_of(const Collective& what) {
  Levels levels;
  std::vector<std::uint32_t> seen;
  for (std::uint32_t rank = 0; rank < what.size; ++rank) {
    if (what.host_of[rank] == what.host_of[what.me]) levels.here.push_back(rank);
    if (std::find(seen.begin(), seen.end(), what.host_of[rank]) != seen.end()) continue;
    seen.push_back(what.host_of[rank]);
    levels.leaders.push_back(rank);
  }
  return levels;
}

/// A flat collective among some of the ranks, of which I am one.
void add_among(const std::vector<std::uint32_t>& ranks, const Collective& what, Operation operation, std::uint32_t root,
               Rules rules, Builder& builder) {
  const auto own = std::find(ranks.begin(), ranks.end(), what.me);
  if (own == ranks.end() || ranks.size() < 2) return;
  Collective part = part_of(what, operation, what.bytes);
  part.me = static_cast<std::uint32_t>(own - ranks.begin());
  part.size = static_cast<std::uint32_t>(ranks.size());
  part.root = static_cast<std::uint32_t>(std::find(ranks.begin(), ranks.end(), root) - ranks.begin()) % part.size;
  part.host_of.clear();
  std::uint64_t begun = builder.begun();
  for (Action action : schedule(part, choose(rules, part), rules)) {
    switch (action.kind) {
      case Action::Kind::send:
      case Action::Kind::synchronous_send:
        builder.send(ranks[action.peer], action.bytes, action.kind == Action::Kind::synchronous_send);
        break;
      case Action::Kind::receive:
        builder.receive(ranks[action.peer], action.bytes);
        break;
      case Action::Kind::wait:
        builder.wait();
        break;
      case Action::Kind::wait_for:
        builder.wait_for(begun + action.bytes);
        break;
      case Action::Kind::reduce:
        builder.reduce(action.bytes);
        break;
      case Action::Kind::network:  // not of a flat collective
        break;
    }
  }
}

void add_two_levels(const Collective& what, Rules rules, Builder& builder) {
  const Levels levels = levels_of(what);
  const std::uint32_t leader = levels.here.front();
  const auto leader_of = [&](std::uint32_t rank) {
    for (std::uint32_t first = 0;; ++first)
      if (what.host_of[first] == what.host_of[rank]) return first;
  };
  switch (what.operation) {
    case Operation::barrier:
      add_among(levels.here, what, Operation::barrier, leader, rules, builder);
      add_among(levels.leaders, what, Operation::barrier, leader, rules, builder);
      return add_among(levels.here, what, Operation::bcast, leader, rules, builder);
    case Operation::allreduce:
      add_among(levels.here, what, Operation::reduce, leader, rules, builder);
      add_among(levels.leaders, what, Operation::allreduce, leader, rules, builder);
      return add_among(levels.here, what, Operation::bcast, leader, rules, builder);
    case Operation::bcast: {
      const std::uint32_t first = leader_of(what.root);
      if (first != what.root && what.me == what.root) builder.send_and_wait(first, what.bytes);
      if (first != what.root && what.me == first) builder.receive_and_wait(what.root, what.bytes);
      add_among(levels.leaders, what, Operation::bcast, first, rules, builder);
      return add_among(levels.here, what, Operation::bcast, leader, rules, builder);
    }
    default: {  // reduce
      const std::uint32_t first = leader_of(what.root);
      add_among(levels.here, what, Operation::reduce, leader, rules, builder);
      add_among(levels.leaders, what, Operation::reduce, first, rules, builder);
      if (first != what.root && what.me == first) builder.send_and_wait(what.root, what.bytes);
      if (first != what.root && what.me == what.root) builder.receive_and_wait(first, what.bytes);
      return;
    }
  }
}

/// Ranks of a host give their operands to the one that speaks for it, and get the result from it, through its memory.
void add_in_network(const Collective& what, Rules rules, Builder& builder) {
  const Levels levels = levels_of(what);
  const std::vector<std::uint32_t> all = speakers(what);
  const std::uint32_t own =
      *std::ranges::find_if(all, [&](std::uint32_t rank) { return what.host_of[rank] == what.host_of[what.me]; });
  const bool down = what.operation != Operation::reduce;
  if (what.operation == Operation::barrier)
    add_among(levels.here, what, Operation::barrier, own, rules, builder);
  else if (what.operation != Operation::bcast)
    add_among(levels.here, what, Operation::reduce, own, rules, builder);
  if (what.me == own) builder.network(what.bytes);
  if (down) add_among(levels.here, what, Operation::bcast, own, rules, builder);
}

/// Open MPI's nonblocking trees let rank 0 and the root change places, where others count from the root on.
void add_with_root_in_front(const Collective& what, Rules rules, Builder& builder) {
  std::vector<std::uint32_t> ranks(what.size);
  for (std::uint32_t rank = 0; rank < what.size; ++rank) ranks[rank] = rank;
  std::swap(ranks[0], ranks[what.root]);
  add_among(ranks, what, what.operation, what.root, rules, builder);
}

void add(const Collective& what, Algorithm algorithm, Rules rules, Builder& builder) {
  if (algorithm == Algorithm::two_level) return add_two_levels(what, rules, builder);
  if (algorithm == Algorithm::in_network) return add_in_network(what, rules, builder);
  if (rules == Rules::openmpi && what.nonblocking && what.root > 0 && algorithm == Algorithm::binomial)
    return add_with_root_in_front(what, rules, builder);
  switch (what.operation) {
    case Operation::barrier:
      return add_barrier(what, algorithm, builder);
    case Operation::bcast:
      return add_broadcast(what, algorithm, builder);
    case Operation::gather:
    case Operation::gatherv:
      return add_gather(what, algorithm, builder);
    case Operation::scatter:
    case Operation::scatterv:
      return add_scatter(what, algorithm, builder);
    case Operation::allgather:
    case Operation::allgatherv:
      if (algorithm == Algorithm::gather_bcast) return add_gather_and_bcast(what, rules, builder);
      return add_allgather(what, algorithm, builder);
    case Operation::alltoall:
    case Operation::alltoallv:
    case Operation::alltoallw:
      return add_exchange_of_all(what, algorithm, builder);
    case Operation::reduce:
      return add_reduction(what, algorithm, rules, builder);
    case Operation::allreduce:
      if (algorithm == Algorithm::reduce_bcast || algorithm == Algorithm::linear)
        return add_reduce_and_bcast(what, algorithm, rules, builder);
      return add_all_reduction(what, algorithm, rules, builder);
    case Operation::scan:
    case Operation::exscan:
      return add_scan(what, algorithm, builder);
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      if (algorithm == Algorithm::reduce_scatter) return add_reduce_and_scatter(what, rules, builder);
      return add_reduce_scatter(what, algorithm, builder);
    case Operation::neighbours:
      return;
  }
}

}  // namespace

std::string_view name(Operation operation) {
  return operation_names[static_cast<std::size_t>(operation)];
}

std::string_view name(Algorithm algorithm) {
  return algorithm_names[static_cast<std::size_t>(algorithm)];
}

std::string_view name(Rules rules) {
  return rules == Rules::openmpi ? "openmpi" : "mpich";
}

std::optional<Operation> operation_named(std::string_view collective) {
  for (std::size_t i = 0; i < operation_names.size(); ++i) {
    const std::string_view known = operation_names[i];
    if (known.size() == collective.size() && known.substr(1) == collective.substr(1) &&
        known[0] == collective[0] + ('a' - 'A'))
      return static_cast<Operation>(i);
  }
  return std::nullopt;
}

std::vector<std::uint32_t> speakers(const Collective& collective) {
  std::vector<std::uint32_t> found = levels_of(collective).leaders;
  const bool rooted = collective.operation == Operation::bcast || collective.operation == Operation::reduce;
  if (!rooted) return found;
  for (std::uint32_t& rank : found)
    if (collective.host_of[rank] == collective.host_of[collective.root]) rank = collective.root;
  return found;
}

std::uint64_t element_bytes(std::uint64_t bytes) {
  for (const std::uint64_t size : {8, 4, 2})
    if (bytes % size == 0) return size;
  return 1;
}

Algorithm choose(Rules rules, const Collective& collective) {
  return rules == Rules::openmpi ? choose_openmpi(collective) : choose_mpich(collective);
}

std::vector<Action> schedule(const Collective& collective, Algorithm algorithm, Rules rules, Algorithm* used) {
  const Algorithm fitting = fallback(collective, algorithm, rules);
  if (used != nullptr) *used = fitting;
  Builder builder;
  if (collective.size > 1) add(collective, fitting, rules, builder);
  return builder.take();
}

}  // namespace holdfast::simulate::job
