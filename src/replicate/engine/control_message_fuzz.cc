#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "replicate/engine/agreement.h"
#include "replicate/engine/control_message.h"
#include "replicate/engine/dispute_table.h"
#include "replicate/engine/inbox.h"

namespace {

using namespace holdfast::replicate;

/// What read() lets pass goes to the parts of the engine that it is for; none may fall over it, or keep without end.
struct Engine {
  Inbox inbox{3};
  DisputeTable disputes{3, 0};
  Follower follower;

  void take(const ControlMessage& message) {
    const Record& record = message.record;
    if (record.kind == RecordKind::digest)
      inbox.streams(record.id().channel)[static_cast<std::size_t>(message.from.replica)].push({});
    if (record.kind == RecordKind::statement) {
      const Statement said = statement_in(message);
      if (said.kind > Statement::Kind::lacks) std::abort();
      if (said.kind == Statement::Kind::lacks) return;  // the engine answers it without the table
      disputes.hear(message.from.replica, record.id(), said, false);
      disputes.open(record.id(), {{1, 2}, 3}, {{4, 5}, 6});
      disputes.hear(message.from.replica, record.id(), said, true);
      disputes.outgoing().clear();
    }
    if (record.kind == RecordKind::decision) {
      std::array<Decision, most_tail_bytes / sizeof(Decision)> decisions;
      const std::size_t count = message.tail.size() / sizeof(Decision);
      std::memcpy(decisions.data(), message.tail.data(), message.tail.size());
      follower.receive(std::span(decisions).first(count));
      bool flag = false;
      std::int64_t number = 0;
      (void)follower.yes_or_no(flag);
      (void)follower.number(number);
      (void)follower.take_matches();
    }
  }
};

}  // namespace

/// The input is messages: a byte of who sent it, one of its length, and its bytes. Each goes to the reader as it is,
/// and once more with the check that it should have, since no fuzzer finds that by itself.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ReplicaMap map = ReplicaMap::of_degrees({3, 2}).value();
  ControlReader reader(map, {0, 0}, 50);
  Engine engine;
  std::array<std::uint32_t, 6> places{};
  ControlMessage message;
  while (size >= 2) {
    const Process from{data[0] % 3 - (data[0] >= 250 ? 1 : 0), data[0] / 3 % 3};
    const std::size_t length = std::min<std::size_t>(data[1] + std::size_t{10}, size - 2);
    alignas(64) std::array<std::byte, 300> bytes;
    std::memcpy(bytes.data(), data + 2, length);
    data += 2 + length;
    size -= 2 + length;
    const bool there = from.rank >= 0 && from.rank < 2 && from.replica < map.degree(from.rank);
    std::uint32_t& place = places[static_cast<std::size_t>(there ? from.rank * 3 + from.replica : 5)];
    const Flaw raw = reader.read(from, std::span(bytes).first(length), message);
    if (raw <= Flaw::repaired) engine.take(message);
    if (raw <= Flaw::repaired || raw == Flaw::unsound) ++place;
    if (!there && raw != Flaw::damaged) std::abort();
    if (length < sizeof(Record) || length > sizeof(Record) + most_tail_bytes || !there) continue;
    Record record;
    std::memcpy(&record, bytes.data(), sizeof record);
    ControlSeal::seal(record, std::span(bytes).subspan(sizeof record, length - sizeof record), place);
    std::memcpy(bytes.data(), &record, sizeof record);
    const Flaw sealed = reader.read(from, std::span(bytes).first(length), message);
    if (sealed != Flaw::none && sealed != Flaw::unsound) std::abort();
    if (sealed == Flaw::none) engine.take(message);
    ++place;
  }
  if (!reader.what_was_wrong().starts_with("a control message")) std::abort();
  return 0;
}
