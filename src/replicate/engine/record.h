#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/integrity/digest.h"

namespace holdfast::replicate {

/// A point-to-point channel as a receiver sees it: the communicator's agreed id, the sender's rank in that
/// communicator, and the tag. MPI delivers the messages of one channel in the order of sending (MPI 3.1, section 3.5).
struct Channel {
  std::uint64_t communicator = 0;
  std::int32_t source = 0;
  std::int32_t tag = 0;
  friend bool operator==(const Channel&, const Channel&) = default;
};

/// One message of a receiver, named alike in every replica: the ordinal-th one (from 0) of its channel.
struct MessageId {
  Channel channel;
  std::uint64_t ordinal = 0;
  friend bool operator==(const MessageId&, const MessageId&) = default;
};

/// Results have no channel.
inline bool names_result(const MessageId& id) {
  return id.channel.source == -1;
}
struct MessageIdHash {
  std::size_t operator()(const MessageId& id) const {
    std::uint64_t x = id.channel.communicator ^ (id.ordinal * 0x9e3779b97f4a7c15ULL) ^
                      (static_cast<std::uint64_t>(static_cast<std::uint32_t>(id.channel.source)) << 32) ^
                      static_cast<std::uint32_t>(id.channel.tag);
    x *= 0xbf58476d1ce4e5b9ULL;
    return static_cast<std::size_t>(x ^ (x >> 31));
  }
};

/// What a record says. Digest and payload records go from a sender to replicas of the receiver; the others stay between
/// the replicas of one rank (its team), state questions apart.
enum class RecordKind : std::uint8_t {
  none = 0,
  digest,      ///< the digest of a message, to the receiver's next replica, or to all others; flags has padded_elements
  payload,     ///< all-to-all: announces a full copy that follows on the payload communicator
  correction,  ///< announces a corrected copy that follows on the payload communicator
  statement,   ///< a Statement about a disputed message (dispute.h); flags has its kind, what else it says follows
  collective,  ///< digest of a collective's result; a byte with the number of a signal may follow (poll.h)
  decision,    ///< answers of the leader, see agreement.h
  ask_state,   ///< "what are you doing?"
  state,       ///< answer: number and function of the current call
  finished,    ///< this replica has reached the end
  partitioned,  ///< the tag of a partitioned channel, from its sender to its receiver in the same replica
  succession,   ///< the leader's replica was taken out: how many of its decision messages came here
  contested,    ///< announces a whole copy of a result that has no majority, which follows on the payload communicator
  parted,       ///< this replica did something else than the leader, in its call `ordinal`
  ask_answer,   ///< "have you gone on from there?", of a book of answers (answer_book.h)
  again,        ///< of a reduction: whether its sender found a majority; see replica_repeat.cc
  written,      ///< digest of a stretch of what was written to a file, see written_ballots.h
  no_answer,    ///< to an answer question, by its number: "my thread sleeps, and has not asked that"
};

/// A process of the job as the engine names it: which rank of the application it plays, in which replica. How processes
/// reach each other, and what number MPI gives them, is the control channel's business (control_channel.h).
struct Process {
  int rank = -1;
  int replica = -1;
  friend bool operator==(const Process&, const Process&) = default;
};

/// Of a digest record: some bytes of the elements have no value, which its digest leaves out; `extra` is the lower half
/// of the digest with them.
constexpr std::uint16_t padded_elements = 1;

/// Of an answer question: it concerns what threads have asked unequally often before.
constexpr std::uint16_t asked_unequally = 1;

/// How many bytes may follow a record in its message.
inline constexpr std::size_t most_tail_bytes = 192;

/// The one-cache-line message that verification sends beside the data. Fixed layout, host byte order: all replicas of a
/// job run on one architecture, and the record never leaves the job. What one may say, and the check, which covers the
/// bytes behind the record and the place among its sender's records, too: control_message.h.
///
///   0       4      5      6       8              16       20    24        32      40      48       64
///   | check | kind | tail | flags | communicator | source | tag | ordinal | bytes | extra | digest |
struct alignas(64) Record {
  std::uint32_t check = 0;
  RecordKind kind = RecordKind::none;
  std::uint8_t tail_bytes = 0;  ///< at most most_tail_bytes
  std::uint16_t flags = 0;
  std::uint64_t communicator = 0;
  std::int32_t source = 0;
  std::int32_t tag = 0;
  std::uint64_t ordinal = 0;
  std::uint64_t bytes = 0;  ///< length of the message described
  std::uint64_t extra = 0;  ///< by kind: the payload's tag, the sender's call number, a time, another digest
  integrity::Digest digest;

  MessageId id() const { return {{communicator, source, tag}, ordinal}; }
  void set_id(const MessageId& id) {
    communicator = id.channel.communicator;
    source = id.channel.source;
    tag = id.channel.tag;
    ordinal = id.ordinal;
  }
};
static_assert(sizeof(Record) == 64, "a verification record is one cache line");
static_assert(std::is_trivially_copyable_v<Record>);

}  // namespace holdfast::replicate
