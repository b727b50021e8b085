#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a recorded trace says about one call of MPI: facts about it, and times (docs/spec/recorded-trace.md).
namespace holdfast::record {

/// A fact about a call: a number and what it means. Facts may come several times, in order.
enum class Fact : std::uint32_t {
  communicator = 1,    ///< which, in this rank's numbering
  peer = 2,            ///< the rank in the world that is sent to, or from which a receive or probe takes; or a Place
  tag = 3,             ///< of it; any_tag: any
  bytes = 4,           ///< of the message that is sent, or of this rank's part of a collective or file operation
  source_bytes = 5,    ///< that the receive has room for, or got where the call completes it
  root = 6,            ///< the rank in the world of a collective's root; or a Place
  request = 7,         ///< the call starts it, or makes it where it is persistent: its number in this rank
  completes = 8,       ///< the call found that this request is complete
  source = 9,          ///< the rank in the world from which a completed receive or probe got the message
  source_tag = 10,     ///< the message's tag
  bytes_to = 11,       ///< one for each member: bytes that this rank sends to it
  bytes_from = 12,     ///< one for each member: bytes that this rank gets from it
  window = 13,         ///< of one-sided communication, in this rank's numbering
  not_yet = 14,        ///< the call asked and the answer was no; 1
  file = 15,           ///< in this rank's numbering
  made = 16,           ///< the communicator that the call made
  partitions = 17,     ///< of a partitioned request
  starts = 18,         ///< the call starts this persistent request
  error = 19,          ///< MPI's error class; 0 is not written
  concerns = 20,       ///< the call is about this request, and does not complete it
  cancels = 21,        ///< the call cancels this request
  frees = 22,          ///< the call frees this request: nobody asks for its completion
  ready_from = 23,     ///< partitions that the call marks ready: the first
  ready_to = 24,       ///< and the last
  receives_from = 25,  ///< the rank in the world of the receiving half of a send-receive; or a Place
  receives_tag = 26,   ///< and its tag
  cancelled = 27,      ///< the completed request before this fact was cancelled; 1
  to = 28,             ///< one for each neighbour that this rank sends to: its rank in the world
  from = 29,           ///< one for each neighbour that it gets something from
};
inline constexpr std::uint32_t most_fact = 29;

/// What stands for a peer, root or source that is no rank of the world.
enum Place : std::int64_t { nobody = -1, anybody = -2, outside = -3, this_group = -4 };
inline constexpr std::int64_t any_tag = -1;

/// Whether the fact's number has a sign: places and tags.
constexpr bool has_sign(Fact fact) {
  switch (fact) {
    case Fact::peer:
    case Fact::tag:
    case Fact::root:
    case Fact::source:
    case Fact::source_tag:
    case Fact::receives_from:
    case Fact::receives_tag:
    case Fact::to:
    case Fact::from:
      return true;
    default:
      return false;
  }
}

/// Whether the fact is the number of a request: written as how many requests ago it was made.
constexpr bool is_request(Fact fact) {
  return fact == Fact::request || fact == Fact::completes || fact == Fact::starts || fact == Fact::concerns ||
         fact == Fact::cancels || fact == Fact::frees;
}

/// A request that was made where nobody recorded it.
inline constexpr std::int64_t unknown_request = -1;

struct FactValue {
  Fact fact{};
  std::int64_t value = 0;
  friend bool operator==(const FactValue&, const FactValue&) = default;
};

/// The members of a communicator. Equal members and equal ordinals are the same communicator in every rank's file: a
/// communicator is made by all its members, in the same order.
struct Communicator {
  std::vector<std::int64_t> members;  ///< their ranks in the world, or Place::outside, by rank in the communicator
  std::vector<std::int64_t> remote;   ///< of an intercommunicator: the other group; empty for others
  std::uint64_t ordinal = 0;          ///< how many communicators with these members this rank had a part in before
  friend bool operator==(const Communicator&, const Communicator&) = default;
};

/// One call, or several in a row that asked the same and got no answer. No time is below 0.
struct Call {
  std::string_view name;     ///< of the MPI function
  std::uint32_t thread = 0;  ///< of the rank, in the order of their first calls
  std::span<const FactValue> facts;
  std::int64_t before_ns = 0;        ///< from the end of the thread's call before to the beginning of this one
  std::int64_t without_core_ns = 0;  ///< the part of it in which the thread had no core
  std::int64_t during_ns = 0;        ///< inside the call
  std::uint64_t repeats = 1;         ///< calls; times are their sums

  /// The first fact of that kind, or `otherwise`.
  std::int64_t get(Fact wanted, std::int64_t otherwise) const {
    for (const FactValue& held : facts)
      if (held.fact == wanted) return held.value;
    return otherwise;
  }
};

}  // namespace holdfast::record
