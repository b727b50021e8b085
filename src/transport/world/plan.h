#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transport/engine/authenticator.h"
#include "transport/engine/options.h"

namespace holdfast::transport {

/// How one direction of one rail between two nodes treats packets. Probabilities are per million.
struct LinkPlan {
  std::int64_t latency_ns = 2000;
  std::int64_t jitter_ns = 0;
  std::uint32_t bytes_per_us = 1000;
  std::uint32_t loss = 0;
  std::uint32_t duplication = 0;
  std::uint32_t reordering = 0;
  std::uint32_t delay = 0;
  std::uint32_t corruption = 0;
  std::uint32_t truncation = 0;
};

struct RailPlan {
  LinkPlan link;
  std::size_t most_packet_bytes = 65536;
  std::optional<integrity::Checksum> checksum{};  ///< instead of the options'
  std::uint32_t queue_packets = 64;               ///< that one node may have under way before it is told `busy`
  /// When a packet's bytes may change: at once, when it has left, or at once and it is told when it has left.
  enum class Finish : std::uint8_t { at_once, later, taken };
  Finish finish = Finish::at_once;
};

/// Something that happens to a world at a moment.
struct Event {
  enum class Kind : std::uint8_t {
    rail_dies,      ///< between `node` and `peer`, both ways
    rail_one_way,   ///< from `node` to `peer` only
    rail_returns,   ///< all of `rail` is well again
    rail_flaps,     ///< it dies and returns, `times` times
    rail_reported,  ///< it dies and the node is told
    rail_narrows,   ///< it loses packets that are longer than `bytes`, both ways
    rail_keeps,     ///< puts of `node` to `peer` neither leave nor finish
    rail_doubted,   ///< it is well and `node` is told otherwise, `times` times
    node_stops,     ///< the process does not run for `duration_ns`
    node_restarts,  ///< it is another process now, perhaps with its clock set back
    node_closes,    ///< it ends well, and another begins
    clock_jumps,    ///< by `duration_ns`, back or ahead
    outage,         ///< no rail between `node` and `peer` carries anything
  };
  Kind kind{};
  std::int64_t at_ns = 0;
  std::int64_t duration_ns = 0;
  unsigned node = 0;
  unsigned peer = 0;
  unsigned rail = 0;
  unsigned times = 0;
  std::size_t bytes = 0;
  bool loud = false;  ///< rails: puts fail instead of vanishing
};

inline constexpr std::size_t readable_bytes = 32768;  ///< of a node's memory that others may read

/// An operation on the memory of another node.
struct RemoteOperation {
  enum class Kind : std::uint8_t { write, read, atomic };
  Kind kind{};
  std::int64_t at_ns = 0;
  unsigned from = 0;
  unsigned to = 0;
  std::size_t bytes = 0;
  std::size_t place = 0;   ///< read: where in what may be read; write: its own, apart from all other writes to the node
  bool buffered = false;   ///< write: from a copy
  bool announced = false;  ///< write: the target is told
  bool fetches = false;    ///< atomic: the old value is wanted
  bool forbidden = false;  ///< the target knows no such memory
};

/// Everything that a seed decides before a world begins.
struct Plan {
  std::uint64_t seed = 0;
  unsigned nodes = 2;
  Options options;
  std::vector<RailPlan> rails;
  std::vector<Event> events;
  std::vector<RemoteOperation> remote;
  std::int64_t work_ns = 0;  ///< in which messages are sent; all faults are over soon after
  unsigned messages = 0;
  std::size_t most_bytes = 0;
  unsigned flows = 1;
  bool errors_allowed = false;  ///< a message may end in an error
  bool secret = false;          ///< the processes share one
  /// Who else is on the network (enemy.h). One who reads it is kept out by a secret alone.
  enum class EnemyKind : std::uint8_t { none, stranger, reader };
  EnemyKind enemy = EnemyKind::none;
  unsigned strikes = 0;  ///< packets of the enemy, while messages are sent
  /// What a node's process has in its n-th life. Not all processors have AES's instructions.
  Secrets secrets(unsigned node, unsigned life) const;
  std::string describe() const;
  /// How many bytes all writes to this node's memory take.
  std::size_t written_bytes(unsigned node) const;
};

Plan draw_plan(std::uint64_t seed);

}  // namespace holdfast::transport
