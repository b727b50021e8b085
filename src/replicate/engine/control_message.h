#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "replicate/engine/dispute.h"
#include "replicate/engine/record.h"
#include "replicate/engine/replica_map.h"

/// Control messages: what replicas say to each other beside the application's messages, a record each and up to
/// most_tail_bytes behind it. They are input from another process. Two things are held against them: a check, and what
/// a record of its kind can say.
///
/// The check is the CRC32C (RFC 3720, 12.1) of the record's place among all that its sender has sent to this process,
/// of the record behind the check, and of what follows it. Any two such strings of at most 5,243 bits differ in six
/// bits or more of string and check together (P. Koopman, "32-Bit Cyclic Redundancy Codes for Internet Applications",
/// DSN 2002), and the longest here has 2,080. So one flipped bit is found and put right, and two to four are found and
/// taken neither for none nor for one; more than that are missed once in 2^32. A message that was lost, came twice or
/// overtook another is found in the same way, by its place.
///
/// No I/O; one thread at a time.
namespace holdfast::replicate {

struct ControlMessage {
  Process from;
  Record record;
  std::span<const std::byte> tail;  ///< valid until the next one is taken
};

/// What is wrong with a message that came.
enum class Flaw : std::uint8_t {
  none,
  repaired,  ///< one bit was flipped, and is right again
  damaged,   ///< more than one bit was flipped, or its length is not a message's
  missing,   ///< others before it have not come
  stale,     ///< it came before, or one that was sent after it did
  unsound,   ///< intact, but nothing that such a sender can say to this process
};

/// The name of a kind, for messages to people.
std::string_view name(RecordKind kind);

/// The sender's side of one pair of processes.
class ControlSeal {
 public:
  /// Completes a record that is sent next, with these bytes behind it.
  void seal(Record& record, std::span<const std::byte> tail) { seal(record, tail, sent_++); }
  /// The same with the place given.
  static void seal(Record& record, std::span<const std::byte> tail, std::uint32_t place);

 private:
  std::uint32_t sent_ = 0;
};

/// The receiver's side of all pairs.
class ControlReader {
 public:
  /// `functions`: how many functions of MPI there are, which some records name by number.
  ControlReader(const ReplicaMap& map, Process self, std::uint32_t functions);

  /// Reads what came from a process: the bytes of one message, in which a flipped bit is put right. `message` is set
  /// for `none` and `repaired` alone, with its tail in `bytes`.
  Flaw read(Process from, std::span<std::byte> bytes, ControlMessage& message);

  /// What read() found the last time, for a person: "a digest record from rank 0 replica 1 to rank 1 replica 2 ...".
  std::string what_was_wrong() const;

 private:
  bool known(Process process) const;
  std::uint32_t& place_of(Process from) {
    return heard_[static_cast<std::size_t>(from.rank) * static_cast<std::size_t>(map_.degree()) +
                  static_cast<std::size_t>(from.replica)];
  }
  Flaw find_flaw(std::span<std::byte> bytes, std::uint32_t place);
  const char* unsound(Process from, const Record& record, std::span<const std::byte> tail) const;
  const char* unsound_in_team(const Record& record, std::span<const std::byte> tail) const;

  ReplicaMap map_;
  Process self_;
  std::uint32_t functions_;
  std::vector<std::uint32_t> heard_;  ///< by rank and replica: messages that came
  Process last_from_;
  RecordKind last_kind_ = RecordKind::none;
  std::string last_wrong_;
};

/// A statement (dispute.h) as a record, and what follows it.
struct StatementTail {
  integrity::Digest digest;
  std::uint64_t bytes = 0;
};
Record record_of(const MessageId& id, const Statement& statement, StatementTail& tail);
/// The statement in a message of that kind that read() has let pass.
Statement statement_in(const ControlMessage& message);

}  // namespace holdfast::replicate
