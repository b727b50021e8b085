#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// Collective operations of MPI as what each of their ranks does: messages to other ranks, waiting, and reductions.
namespace holdfast::simulate::job {

enum class Operation : std::uint8_t {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  scan,
  exscan,
  reduce_scatter,
  reduce_scatter_block,
  neighbours,  ///< any collective of neighbours
};
inline constexpr std::size_t operations = 18;

/// "bcast"
std::string_view name(Operation operation);
/// Of "Bcast", as record::collective_of() names it; not of neighbours.
std::optional<Operation> operation_named(std::string_view collective);

enum class Algorithm : std::uint8_t {
  linear,              ///< with one rank in the middle, one message after another
  linear_at_once,      ///< all messages at once
  linear_synchronous,  ///< all at once, each beginning when its receiver is ready
  chain,               ///< along the ranks
  binary,              ///< a binary tree
  in_order_binary,     ///< a binary tree with ranks in order, to the last rank
  split_binary,        ///< one half in each subtree, then exchanged
  binomial,
  knomial,                     ///< of radix 4
  scatter_recursive_doubling,  ///< binomial scatter, then allgather by recursive doubling
  scatter_ring,                ///< binomial scatter, then allgather round the ring
  recursive_doubling,
  recursive_halving,
  ring,
  rabenseifner,  ///< reduce-scatter by recursive halving, then allgather or gather
  bruck,
  pairwise,
  neighbour_exchange,
  exchange,   ///< of two ranks
  butterfly,  ///< recursive halving at doubling distances, then each block to its rank
  dissemination,
  tree,            ///< binomial up and down again
  scattered,       ///< 32 sends and receives at once
  reduce_bcast,    ///< two collectives
  reduce_scatter,  ///< likewise: a reduction to rank 0 and a scatter from it
  gather_bcast,    ///< likewise
  two_level,       ///< inside each host and among one rank of each
  in_network,      ///< inside each host, and by the switches among one rank of each (in_network.h)
};
inline constexpr std::size_t algorithms = 28;

/// "recursive-doubling"
std::string_view name(Algorithm algorithm);

/// One collective as one of its ranks sees it. Ranks are those of the communicator. Sizes are bytes.
struct Collective {
  Operation operation = Operation::barrier;
  std::uint32_t me = 0;
  std::uint32_t size = 1;
  std::uint32_t root = 0;
  std::uint64_t bytes = 0;              ///< of the vector, or of the block of one rank (gather, scatter, alltoall, ...)
  std::vector<std::uint64_t> to, from;  ///< of v and w collectives, one for each rank; empty: `bytes` each
  bool nonblocking = false;
  std::vector<std::uint32_t> host_of{};  ///< of each rank, when the algorithm may look at it; empty: each its own

  std::uint64_t to_rank(std::uint32_t rank) const { return to.empty() ? bytes : to[rank]; }
  std::uint64_t from_rank(std::uint32_t rank) const { return from.empty() ? bytes : from[rank]; }
};

/// One step of a rank. Sends and receives begin and go on by themselves; they are numbered from 0 in order, together.
struct Action {
  enum class Kind : std::uint8_t {
    send,
    synchronous_send,  ///< begins when the receiver has asked for it
    receive,
    wait,      ///< for all that began so far
    wait_for,  ///< for the one of the number `bytes`
    reduce,    ///< combines so many bytes of two operands
    network,   ///< takes part in what the switches do; begins and goes on like a send
  };
  Kind kind = Kind::wait;
  std::uint32_t peer = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Action&) const = default;
};

/// The MPI whose rules choose algorithms.
enum class Rules : std::uint8_t { openmpi, mpich };
std::string_view name(Rules rules);

/// Of each host the rank that speaks for it to the network: the root, or the first one. `host_of` must be given.
std::vector<std::uint32_t> speakers(const Collective& collective);

/// What an MPI's default rules choose. Reductions count as built-in, commutative ones of elements of the largest of 8,
/// 4, 2 and 1 bytes that divides their size: recordings have neither. Not of Operation::neighbours.
///
/// openmpi: Open MPI 4.1, coll/tuned's fixed decisions (coll_tuned_decision_fixed.c), coll/basic for what tuned leaves
/// to it, coll/libnbc for nonblocking ones. mpich: MPICH 4.0, maint/tuning/coll/mpir/generic.json, and where several
/// ranks share a host the node-aware compositions of ch4 (maint/tuning/coll/ch4/generic.json).
Algorithm choose(Rules rules, const Collective& collective);
Algorithm choose_openmpi(const Collective& collective);
Algorithm choose_mpich(const Collective& collective);

/// What rank `collective.me` does. An algorithm that is made of two collectives chooses theirs by `rules`. An algorithm
/// that the operation does not have, or not for this number of ranks or elements, becomes the one that the MPI falls
/// back to, which `used` gets, when given. Ranks that are given the same arguments but `me` (and their own parts of
/// `to` and `from`) fit together.
std::vector<Action> schedule(const Collective& collective, Algorithm algorithm, Rules rules, Algorithm* used = nullptr);

/// The size of an element that is assumed of a vector.
std::uint64_t element_bytes(std::uint64_t bytes);

}  // namespace holdfast::simulate::job
