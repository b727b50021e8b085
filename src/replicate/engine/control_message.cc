#include "replicate/engine/control_message.h"

#include <array>
#include <cstring>

#include "core/integrity/crc32c.h"
#include "replicate/engine/agreement.h"

namespace holdfast::replicate {

namespace {

constexpr std::size_t check_bytes = sizeof(Record::check);
/// So far apart may the places of a message that came and of the one that was expected be, to be told from damage.
constexpr std::uint32_t nearby = 4096;
/// No message is longer; what a record says is allocated.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 44;
constexpr std::uint64_t payload_tags = 32768;

constexpr std::uint16_t statement_kind_bits = 0xff;
constexpr std::uint16_t own_known = 0x100;
constexpr std::uint16_t own_may_be_cut = 0x200;
constexpr std::uint16_t below_known = 0x400;
constexpr std::uint16_t statement_bits = statement_kind_bits | own_known | own_may_be_cut | below_known;

constexpr std::array<std::string_view, 18> kind_names = {
    "empty",           "digest",       "payload",      "correction",  "statement",  "collective",       "decision",
    "state question",  "state answer", "finish",       "partitioned", "succession", "contested result", "parting",
    "answer question", "repetition",   "written file", "no answer"};

std::uint32_t check_of(std::span<const std::byte> bytes, std::uint32_t place) {
  const std::uint32_t of_place = integrity::crc32c_extend(0, std::as_bytes(std::span(&place, 1)));
  return integrity::crc32c_extend(of_place, bytes.subspan(check_bytes));
}

std::uint32_t check_in(std::span<const std::byte> bytes) {
  std::uint32_t check = 0;
  std::memcpy(&check, bytes.data(), check_bytes);
  return check;
}

void flip(std::span<std::byte> bytes, std::size_t bit) {
  bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
}

/// Inverts the bit that makes the check right; -1 where no single one does.
int repair(std::span<std::byte> bytes, std::uint32_t place) {
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    flip(bytes, bit);
    if (check_of(bytes, place) == check_in(bytes)) return static_cast<int>(bit);
    flip(bytes, bit);
  }
  return -1;
}

/// Records that replicas of one rank alone say to each other.
bool of_team(RecordKind kind) {
  switch (kind) {
    case RecordKind::correction:
    case RecordKind::statement:
    case RecordKind::collective:
    case RecordKind::decision:
    case RecordKind::finished:
    case RecordKind::succession:
    case RecordKind::contested:
    case RecordKind::parted:
    case RecordKind::ask_answer:
    case RecordKind::written:
    case RecordKind::no_answer:
      return true;
    default:
      return false;
  }
}

bool sound_decisions(std::span<const std::byte> tail) {
  for (; !tail.empty(); tail = tail.subspan(sizeof(Decision))) {
    Decision decision;
    std::memcpy(&decision, tail.data(), sizeof decision);
    if (decision.kind > Decision::Kind::more) return false;
    if (decision.kind == Decision::Kind::no && decision.words[0] == 0) return false;  // it counts down from there
  }
  return true;
}

/// Of those that Linux has.
bool sound_signal(std::byte number) {
  return number >= std::byte{1} && number <= std::byte{64};
}

bool tail_fits(RecordKind kind, std::size_t bytes) {
  switch (kind) {
    case RecordKind::statement:
      return bytes == sizeof(StatementTail);
    case RecordKind::decision:
      return bytes > 0 && bytes % sizeof(Decision) == 0;
    case RecordKind::collective:
      return bytes <= 1;
    default:
      return bytes == 0;
  }
}

std::string text_of(Process process) {
  return "rank " + std::to_string(process.rank) + " replica " + std::to_string(process.replica);
}

}  // namespace

std::string_view name(RecordKind kind) {
  const auto which = static_cast<std::size_t>(kind);
  return which < kind_names.size() ? kind_names[which] : "unknown";
}

void ControlSeal::seal(Record& record, std::span<const std::byte> tail, std::uint32_t place) {
  record.tail_bytes = static_cast<std::uint8_t>(tail.size());
  const auto bytes = std::as_bytes(std::span(&record, 1));
  record.check = integrity::crc32c_extend(check_of(bytes, place), tail);
}

ControlReader::ControlReader(const ReplicaMap& map, Process self, std::uint32_t functions)
    : map_(map),
      self_(self),
      functions_(functions),
      heard_(static_cast<std::size_t>(map.ranks()) * static_cast<std::size_t>(map.degree())) {}

bool ControlReader::known(Process process) const {
  return process.rank >= 0 && process.rank < map_.ranks() && process.replica >= 0 &&
         process.replica < map_.degree(process.rank);
}

Flaw ControlReader::read(Process from, std::span<std::byte> bytes, ControlMessage& message) {
  last_from_ = from;
  last_kind_ = RecordKind::none;
  if (!known(from) || bytes.size() < sizeof(Record) || bytes.size() > sizeof(Record) + most_tail_bytes) {
    last_wrong_ = "has " + std::to_string(bytes.size()) + " bytes";
    return Flaw::damaged;
  }
  std::uint32_t& place = place_of(from);
  const Flaw flaw = check_of(bytes, place) == check_in(bytes) ? Flaw::none : find_flaw(bytes, place);
  std::memcpy(&message.record, bytes.data(), sizeof(Record));
  last_kind_ = message.record.kind;
  if (flaw > Flaw::repaired) return flaw;
  message.from = from;
  message.tail = bytes.subspan(sizeof(Record));
  ++place;
  const char* wrong = unsound(from, message.record, message.tail);
  if (!wrong) return flaw;
  last_wrong_ = wrong;
  return Flaw::unsound;
}

Flaw ControlReader::find_flaw(std::span<std::byte> bytes, std::uint32_t place) {
  if (const int bit = repair(bytes, place); bit >= 0) {
    last_wrong_ = "had bit " + std::to_string(bit) + " flipped, which was put right";
    return Flaw::repaired;
  }
  for (std::uint32_t off = 1; off <= nearby; ++off) {
    if (check_of(bytes, place + off) == check_in(bytes)) {
      last_wrong_ = "came while " + std::to_string(off) + " before it had not";
      return Flaw::missing;
    }
    if (off <= place && check_of(bytes, place - off) == check_in(bytes)) {
      last_wrong_ = "came when it had come, or one sent after it";
      return Flaw::stale;
    }
  }
  last_wrong_ = "had more than one bit flipped on its way";
  return Flaw::damaged;
}

const char* ControlReader::unsound(Process from, const Record& record, std::span<const std::byte> tail) const {
  if (record.kind == RecordKind::none || record.kind > RecordKind::no_answer) return "is of no known kind";
  if (record.tail_bytes != tail.size() || !tail_fits(record.kind, tail.size())) return "has a wrong length";
  if (of_team(record.kind)) {
    if (from.rank != self_.rank || from == self_) return "is for other processes";
    return unsound_in_team(record, tail);
  }
  const bool rank_there = record.source >= 0 && record.source < map_.ranks();
  switch (record.kind) {
    case RecordKind::digest:
      return rank_there && record.flags <= padded_elements ? nullptr : "names no message";
    case RecordKind::payload:
      return rank_there && record.bytes <= most_bytes && record.extra < payload_tags ? nullptr : "names no copy";
    case RecordKind::state:
      if (record.flags >= functions_) return "names no function";
      return tail.empty() || sound_signal(tail[0]) ? nullptr : "names no signal";
    case RecordKind::partitioned:
      return rank_there && record.extra < payload_tags ? nullptr : "names no channel";
    case RecordKind::again:
      return record.flags <= 1 && record.extra <= static_cast<std::uint64_t>(map_.degree()) ? nullptr
                                                                                            : "says nothing known";
    default:
      return nullptr;
  }
}

const char* ControlReader::unsound_in_team(const Record& record, std::span<const std::byte> tail) const {
  switch (record.kind) {
    case RecordKind::correction:
    case RecordKind::contested:
      return record.bytes <= most_bytes && record.extra < payload_tags ? nullptr : "names no copy";
    case RecordKind::statement:
      return (record.flags & ~statement_bits) == 0 &&
                     (record.flags & statement_kind_bits) <= static_cast<std::uint32_t>(Statement::Kind::lacks)
                 ? nullptr
                 : "states nothing known";
    case RecordKind::collective:
      if (record.flags >= functions_) return "names no function";
      return tail.empty() || sound_signal(tail[0]) ? nullptr : "names no signal";
    case RecordKind::decision:
      return sound_decisions(tail) ? nullptr : "decides nothing known";
    case RecordKind::parted:
      return record.source >= 0 && record.source < map_.degree() ? nullptr : "names no replica";
    case RecordKind::ask_answer:
      return record.flags <= asked_unequally ? nullptr : "asks nothing known";
    case RecordKind::succession:
      return record.flags <= map_.degree() ? nullptr : "counts more leaders than there are replicas";
    default:
      return nullptr;
  }
}

std::string ControlReader::what_was_wrong() const {
  return "a control message (" + std::string(name(last_kind_)) + ") from " + text_of(last_from_) + " to " +
         text_of(self_) + " " + last_wrong_;
}

Record record_of(const MessageId& id, const Statement& statement, StatementTail& tail) {
  Record record;
  record.kind = RecordKind::statement;
  std::uint32_t flags = static_cast<std::uint32_t>(statement.kind);
  if (statement.own.known) flags |= own_known;
  if (statement.own_may_be_cut) flags |= own_may_be_cut;
  if (statement.below.known) flags |= below_known;
  record.flags = static_cast<std::uint16_t>(flags);
  record.set_id(id);
  record.digest = statement.own.digest;
  record.bytes = statement.own.bytes;
  tail = {statement.below.digest, statement.below.bytes};
  return record;
}

Statement statement_in(const ControlMessage& message) {
  StatementTail tail;
  std::memcpy(&tail, message.tail.data(), sizeof tail);
  const Record& record = message.record;
  return {static_cast<Statement::Kind>(record.flags & statement_kind_bits),
          {record.digest, record.bytes, (record.flags & own_known) != 0},
          {tail.digest, tail.bytes, (record.flags & below_known) != 0},
          (record.flags & own_may_be_cut) != 0};
}

}  // namespace holdfast::replicate
