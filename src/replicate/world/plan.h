#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replicate/engine/options.h"

namespace holdfast::replicate {

/// A message that a rank's program sends: named alike in all replicas by sender and number.
struct PlannedMessage {
  int from = 0;
  int to = 0;
  std::uint64_t communicator = 0;
  std::int32_t tag = 0;
  std::size_t bytes = 0;
  bool elements = false;  ///< sent as elements with gaps (`Gaps`) rather than as bytes
};

/// A result that one rank gets, of a collective as a rule: compared by its replicas alone.
struct PlannedResult {
  int rank = 0;
  std::size_t blocks = 1;  ///< that one rank each has given; 1: it has none
  std::size_t block_bytes = 0;
  std::size_t bytes() const { return blocks * block_bytes; }
};

/// A reduction over all ranks whose result all of them get: elements of eight bytes, which are added.
struct PlannedReduction {
  std::size_t elements = 0;
};

/// What a rank writes to a file: its replicas come together with their bytes, replica 0 alone writes, and tells the
/// others what MPI told it.
struct PlannedWrite {
  int rank = 0;
  std::size_t bytes = 0;
};

/// An epoch between two fences of a window: each rank puts a block into the window of every rank, itself included.
struct PlannedEpoch {
  std::size_t block_bytes = 1;
};

/// What a program does next, the same in all replicas of its rank.
struct Step {
  enum class Kind : std::uint8_t {
    send,
    post,      ///< a receive
    wait,      ///< for a receive
    test,      ///< in a loop, until it is done
    wait_any,  ///< for one of those that are posted on the communicator and will have a message
    cancel,    ///< and then waits for it
    look,      ///< looks once whether there is a message
    probe,     ///< waits for a message, and receives it by the source and the tag that were found
    matched,   ///< the same by a matched probe
    drain,     ///< receives what is left of the communicator's messages
    offer,     ///< has a result
    take,      ///< waits for it
    reduce,    ///< a reduction
    write,     ///< writes to a file that replica 0 alone writes
    epoch,     ///< puts and fences
    stop,      ///< does nothing any more
    join,      ///< waits until all threads of the process are here
  };
  Kind kind{};
  std::size_t which = 0;    ///< send: the message's index; those that receive or complete: the receive's number at this
                            ///< rank, of a drain the first one's; offer, take, reduce, write, epoch: the index
  std::int32_t source = 0;  ///< may be any_source
  std::int32_t tag = 0;     ///< may be any_tag
  std::uint64_t communicator = 0;
  std::size_t room = 0;     ///< post: of the buffer, in bytes
  std::size_t count = 0;    ///< drain: the communicator's messages
  bool optional = false;    ///< post: will be cancelled
  bool persistent = false;  ///< post: by a request that others of this rank use as well, one after the other
  int thread = 0;           ///< of the process, that does it; a join is every thread's
  bool elements = false;    ///< those that receive: by elements with gaps rather than by bytes
};

/// What goes wrong with one message on its way from one sender replica.
struct PlannedFault {
  enum class Kind : std::uint8_t {
    memory,  ///< the sender's bytes are wrong before it sends them: the receiver's copy and the digest are alike wrong
    wire,    ///< a bit is flipped after the digest was taken: the receiver's copy alone is wrong
  };
  Kind kind{};
  std::size_t message = 0;
  int replica = 0;
  std::uint64_t value = 1;  ///< memory: which wrong bytes; two of one value are alike
};

/// One replica's copy of a result is wrong in one block.
struct WrongBlock {
  std::size_t result = 0;
  int replica = 0;
  std::size_t block = 0;
  std::uint64_t value = 1;  ///< which wrong bytes
};

/// What one replica of one rank has wrong at a reduction.
struct WrongElement {
  enum class Kind : std::uint8_t {
    operand,  ///< what it gives, so that all ranks of its replica get a wrong result
    result,   ///< what it gets the first time
  };
  Kind kind{};
  std::size_t reduction = 0;
  int rank = 0;
  int replica = 0;
  std::size_t element = 0;
  std::uint64_t value = 1;
};

/// What one replica of one rank has wrong at an epoch.
struct WrongPut {
  enum class Kind : std::uint8_t {
    put,      ///< what it puts
    exposed,  ///< what lies in its window when all is there
  };
  Kind kind{};
  std::size_t epoch = 0;
  int rank = 0;
  int replica = 0;
  std::size_t block = 0;    ///< put: for that rank; exposed: of that rank
  std::uint64_t value = 1;  ///< which wrong bytes
};

/// One replica has wrong bytes to write.
struct WrongWrite {
  std::size_t write = 0;
  int replica = 0;
  std::uint64_t value = 1;  ///< which wrong bytes
};

/// One process of which the program goes another way than in the other replicas of its rank, from some step on.
struct Divergence {
  enum class Kind : std::uint8_t {
    skips,    ///< leaves the step out
    repeats,  ///< does it twice
    looks,    ///< looks before it whether there is a message
    stops,    ///< never comes to it
  };
  Kind kind{};
  int rank = 0;
  int replica = 0;
  std::size_t step = 0;
};

/// Threads of each process.
struct PlannedThreads {
  int count = 1;
  bool ordered = false;  ///< they share communicators, and go in the leader's order; else each has its own
  bool many() const { return count > 1; }
};

/// Elements of 16 bytes of which the last 6 have no value, as those of long doubles.
enum class Gaps : std::uint8_t {
  none,
  alike,    ///< some messages are sent, and some received, as such elements, others as bytes: all bytes count then
  differs,  ///< all are; what lies in the gaps is another in each replica
};
bool in_gap(std::size_t byte);

/// Everything that a seed decides before a world begins.
struct Plan {
  std::uint64_t seed = 0;
  std::vector<int> degrees;  ///< by rank
  Protocol protocol{};
  std::vector<PlannedMessage> messages;
  std::vector<std::vector<Step>> programs;  ///< by rank
  std::vector<PlannedFault> faults;
  std::vector<PlannedResult> results;
  std::vector<WrongBlock> wrong_blocks;
  std::vector<PlannedReduction> reductions;
  std::vector<WrongElement> wrong_elements;
  std::vector<PlannedWrite> writes;
  std::vector<WrongWrite> wrong_writes;
  std::vector<PlannedEpoch> epochs;
  std::vector<WrongPut> wrong_puts;
  std::uint32_t flipped_records = 0;     ///< per million: one bit of a control message
  bool broken_record = false;            ///< of one control message three bits are flipped
  std::optional<Divergence> divergence;  ///< nothing else goes wrong then, but flipped control messages
  std::vector<int> deaths;  ///< replicas that are taken out at moments of the world's choice, in this order
  bool eager = false;       ///< messages overtake control messages as a rule, or the other way round
  PlannedThreads threads;
  Gaps gaps{};
  bool memory_stays = false;  ///< programs leave what they received where it is
  bool goes_on = false;       ///< a difference between two replicas is reported, and does not end the job
  bool says_cut = false;      ///< MPI says of a message that it was longer than its buffer, as MPICH does

  static constexpr std::size_t room = 512;  ///< more than any message has

  int ranks() const { return static_cast<int>(degrees.size()); }
  int degree() const;
  bool partial() const;
  bool dies(std::size_t replica) const;
  /// Whether processes of that replica may have done something else than others, so that they are not held to it.
  bool apart(std::size_t replica) const;
  /// Whether that is the replica in whose world a program goes another way.
  bool diverges(std::size_t replica) const;
  /// What that process does.
  std::vector<Step> program(int rank, int replica) const;
  /// Which replica of the sender gives its message to that replica of the receiver.
  int giver(const PlannedMessage& message, int receiver_replica) const;
  std::string describe() const;
};

/// What a process says that refuses to take by a matched probe what a cancelled receive had taken.
inline constexpr const char* refused_matched_probe = "a matched probe of a message that a cancelled receive had taken";

Plan draw_plan(std::uint64_t seed);

/// The bytes of a message as the program means them, or wrong ones (`value` > 0).
std::vector<std::byte> contents(const Plan& plan, std::size_t message, std::uint64_t value);

/// A result as that replica of its rank has it from MPI; -1: as it should be.
std::vector<std::byte> result_contents(const Plan& plan, std::size_t result, int replica);

/// What that replica has to write; -1: what is right.
std::vector<std::byte> written(const Plan& plan, std::size_t write, int replica);

/// What that replica of the rank puts into all windows, a block for each; -1: what is right.
std::vector<std::byte> puts(const Plan& plan, std::size_t epoch, int rank, int replica);

/// Makes wrong what that replica of the rank has wrong in its window.
void spoil_window(const Plan& plan, std::size_t epoch, int rank, int replica, std::vector<std::byte>& window);

/// What MPI would tell that replica of it, which no other could say.
std::vector<std::byte> outcome(const Plan& plan, std::size_t write, int replica);

/// What a rank gives to a reduction in that replica; -1: as it should be.
std::vector<std::uint64_t> operand(const Plan& plan, std::size_t reduction, int rank, int replica);

}  // namespace holdfast::replicate
