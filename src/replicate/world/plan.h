#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replicate/engine/options.h"

namespace holdfast::replicate {

/// A message that a rank's program sends: named alike in all replicas by sender and number.
struct PlannedMessage {
  int from = 0;
  int to = 0;
  int round = 0;
  std::int32_t tag = 0;
  std::size_t bytes = 0;
};

/// A result that one rank gets, of a collective as a rule: compared by its replicas alone.
struct PlannedResult {
  int rank = 0;
  std::size_t blocks = 1;  ///< that one rank each has given; 1: it has none
  std::size_t block_bytes = 0;
  std::size_t bytes() const { return blocks * block_bytes; }
};

/// What a program does next, the same in all replicas of its rank.
struct Step {
  enum class Kind : std::uint8_t { send, post, wait, offer, take };
  Kind kind{};
  std::size_t which = 0;    ///< send: the message's index; post, wait: the receive's number at this rank; offer, take:
                            ///< the result's index
  std::int32_t source = 0;  ///< post: may be any_source
  std::int32_t tag = 0;     ///< post: may be any_tag
  int round = 0;            ///< post: its communicator
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
  std::uint32_t flipped_records = 0;  ///< per million: one bit of a control message
  bool broken_record = false;         ///< of one control message three bits are flipped
  int dies = -1;                      ///< a replica that is taken out at a moment of the world's choice; -1: none
  bool eager = false;                 ///< messages overtake control messages as a rule, or the other way round

  int ranks() const { return static_cast<int>(degrees.size()); }
  int degree() const;
  bool partial() const;
  /// Which replica of the sender gives its message to that replica of the receiver.
  int giver(const PlannedMessage& message, int receiver_replica) const;
  std::string describe() const;
};

Plan draw_plan(std::uint64_t seed);

/// The bytes of a message as the program means them, or wrong ones (`value` > 0).
std::vector<std::byte> contents(const Plan& plan, std::size_t message, std::uint64_t value);

/// A result as that replica of its rank has it from MPI; -1: as it should be.
std::vector<std::byte> result_contents(const Plan& plan, std::size_t result, int replica);

}  // namespace holdfast::replicate
