#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replicate/engine/inbox.h"
#include "replicate/engine/ordering.h"
#include "replicate/engine/record.h"
#include "replicate/engine/vote.h"

namespace holdfast::replicate {

/// Bytes that a message or result consisted of, on their way between processes.
using Copy = std::shared_ptr<const std::vector<std::byte>>;

/// The application's bytes as the engine sees them: what it can say of them, and what it can have of them.
class Contents {
 public:
  virtual ~Contents() = default;
  /// How many there are, or have room.
  virtual std::uint64_t capacity() const = 0;
  /// Digest and length of the first `bytes` of them, without what has no value (padding) and addresses.
  virtual Ballot ballot(std::uint64_t bytes) const = 0;
  /// Whether there is anything that ballot() leaves out.
  virtual bool padded() const = 0;
  /// The same with all that lies there.
  virtual Ballot whole_ballot(std::uint64_t bytes) const = 0;
  virtual Copy copy(std::uint64_t bytes) const = 0;
};

/// A message that this rank receives, or a result that it gets, from when its receive is posted until it is delivered:
/// the engine's state of it. The adapter derives from it to give the engine the bytes, and owns it; the engine refers
/// to it from Replica::post() until it is complete or cancelled.
class Verified : public Contents {
 public:
  /// A message passes through these in order. A result begins with `native` and goes on with `comparing`.
  enum class Stage : std::uint8_t {
    unplaced,   ///< follower only: must not be given to MPI before an earlier wildcard is resolved
    native,     ///< with the MPI library
    placing,    ///< arrived; its ordinal on the channel is not known yet
    comparing,  ///< waiting for what the other replicas say about it
    contested,  ///< a result of which no whole copy has a majority: for the copies of the others
    unsettled,  ///< a reduction without a majority: whether all ranks make it again
    disputed,   ///< they disagree; for the dispute's end, or for the correction
    complete,   ///< may be delivered
    repeated,   ///< a reduction that all ranks make again
  };

  /// Which message a receive has.
  enum class Holds : std::uint8_t {
    nothing,           ///< none yet; a result
    own,               ///< the one that MPI gave it
    own_refused,       ///< of which MPI reported an error (truncation): delivered unverified with the error
    requeued,          ///< one that a cancelled receive had matched
    requeued_refused,  ///< such a one, of which MPI had reported an error there
  };

  /// What of the bytes `own` counts.
  enum class Counted : std::uint8_t {
    elements,   ///< all but padding and addresses
    all_bytes,  ///< since one side calls the elements bytes
  };

  /// A receive of any source or tag.
  struct Wildcard {
    std::uint64_t number = 0;  ///< its name in all replicas, until it is resolved
    std::uint32_t poster = 0;  ///< who posted it, of several threads
  };

  Stage stage = Stage::native;
  Holds holds = Holds::nothing;
  Counted counted = Counted::elements;
  std::optional<Wildcard> wildcard;

  std::uint64_t communicator = 0;  ///< the agreed id
  std::int32_t source = 0;         ///< as given, or as decided: the sender's rank in the communicator
  std::int32_t tag = 0;
  ReceiveOrder* order = nullptr;               ///< of the communicator
  std::optional<ReceiveOrder::Ticket> ticket;  ///< none: the message of a matched probe has its place, or it is over
  MessageId place;                             ///< channel and local ordinal
  MessageId identity;                          ///< channel and the sender's sequence number: the name all replicas use
  std::vector<Stream>* streams = nullptr;
  Ballot own;
  /// A result that all ranks make again where no copy has a majority: its number among those of its communicator, alike
  /// in all ranks.
  std::optional<std::uint64_t> reduction;
  int supplier = -1;  ///< disputed: the replica that sends the good copy, where each replica counts for itself

  bool requeued() const { return holds == Holds::requeued || holds == Holds::requeued_refused; }
  bool refused() const { return holds == Holds::own_refused || holds == Holds::requeued_refused; }
  /// MPI's word on the message that it has.
  void set_refused(bool is) {
    holds = requeued() ? (is ? Holds::requeued_refused : Holds::requeued) : (is ? Holds::own_refused : Holds::own);
  }

  /// Nothing is to be waited for.
  bool finished() const { return stage == Stage::complete || stage == Stage::repeated; }

  Channel channel() const { return {communicator, source, tag}; }

  /// A message, not a result.
  virtual bool is_message() const { return true; }
  /// Rank of the application that a message is from; its own for a result.
  virtual int sender_rank() const = 0;
  /// How many bytes of a message came.
  virtual std::uint64_t received() const = 0;
  /// A message of so many bytes ends within a basic element, and MPI refuses it for that.
  virtual bool torn_by(std::uint64_t bytes) const = 0;
  /// Where the application has a message that lies in one piece, without padding; null for any other.
  virtual const std::byte* memory() const { return nullptr; }
  /// The ballot() that bytes would have here which another replica's copy() gave.
  virtual Ballot ballot_of_copy(std::span<const std::byte> bytes) const = 0;
  /// Puts another replica's bytes in place, but for addresses, of which this process has its own. False, and nothing is
  /// written, where the other has one and this none.
  virtual bool overwrite(std::span<const std::byte> bytes) = 0;
  /// Takes a whole message that another receive had matched and left: writes it, and notes whom it is from.
  virtual void take_requeued(std::span<const std::byte> bytes, std::int32_t from, std::int32_t with_tag) = 0;
  /// The message that it holds, which another receive gets, and whom it is from.
  virtual Copy give_up(std::int32_t& from, std::int32_t& with_tag) = 0;
  /// "result of MPI_Allreduce at rank 3"; for results.
  virtual std::string result_name() const { return {}; }
  /// The ranks of the application that get this result, where all make it again.
  virtual std::vector<int> ranks() const { return {}; }
  /// Where each block of a result's copy() ends, ascending, where it consists of blocks that one rank each has given,
  /// or of the elements of a reduction; empty where it does not, or where no bytes of it can be compared (padding).
  virtual std::vector<std::size_t> block_ends() const { return {}; }
};

}  // namespace holdfast::replicate
