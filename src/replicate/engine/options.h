#pragma once

#include <cstdint>
#include <string>

#include "core/config/table.h"

namespace holdfast::replicate {

/// How replicas check a message (docs/design/replication.md).
enum class Protocol : std::uint8_t {
  msg_plus_hash,  ///< the message once, and its digest from the sender replica below on the ring
  msg_plus_vote,  ///< the message once, and its digest from every other sender replica
  all_to_all,     ///< the whole message from every sender replica
};
enum class OnCorruption : std::uint8_t { stop, report };
/// How collectives run.
enum class Collectives : std::uint8_t {
  native,  ///< by MPI, in each replica's world; results are compared
  p2p,     ///< on verified point-to-point messages, operands combined in a fixed order
};
enum class CollectiveEntry : std::uint8_t { automatic, polled, direct };
/// What to do when a process dies. automatic: `holdfast run` decides, and says what it has decided; without it, abort.
enum class OnFailure : std::uint8_t { abort, go_on, automatic };
enum class DigestChoice : std::uint8_t { xxh3_128, xxh3_64, crc32c };

/// The options of the preloaded library. Values come from the environment, which `holdfast run` sets.
struct Options {
  std::string degree;  ///< Degrees; where a map file says more, the most that a rank has
  Protocol protocol{};
  DigestChoice digest{};
  OnCorruption on_corruption{};
  OnFailure on_failure{};
  Collectives collectives{};
  CollectiveEntry collective_entry{};
  bool clocks{};
  bool clear_blocks{};
  bool files{};
  std::string files_may_differ;
  bool random{};
  bool identity{};
  bool shared_records{};
  bool chain{};
  bool same_thread_order{};
  std::string inject;
  std::uint64_t seed{};
  std::string map;
  std::string tolerate;
  std::int64_t silence_limit_ns{};
};

const config::Table<Options>& options_table();

}  // namespace holdfast::replicate
