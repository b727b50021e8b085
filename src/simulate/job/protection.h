#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/settings.h"
#include "core/config/table.h"
#include "core/status/status.h"
#include "replicate/engine/options.h"

namespace holdfast::simulate::job {

/// What checking costs a process that is replicated, beside MPI's own overheads for the records.
struct ReplicationCosts {
  std::int64_t digest_byte_ps{};  ///< to digest a byte of a message or result
  std::int64_t copy_byte_ps{};    ///< to copy a byte of a message that another replica is given, or a corrected one
};

/// Component "replay".
const config::Table<ReplicationCosts>& replication_costs_table();

/// How a replayed job is protected by replicas of its ranks.
struct Protection {
  int degree = 1;  ///< processes of each rank; 1: no protection
  replicate::Protocol protocol{};
  ReplicationCosts costs{};
  std::string inject{};    ///< faults of replicate/engine/injector.h
  std::uint64_t seed = 1;  ///< of the faults

  bool on() const { return degree > 1; }
};

/// Each process of a job knows how far all others of it have come: memory grows with the square of their number.
inline constexpr std::uint64_t most_replicated_processes = 8192;

/// "msg-plus-hash", ... Error (bad_input): another word.
Result<replicate::Protocol> parse_protocol(const std::string& text);
std::string protocol_name(replicate::Protocol protocol);

/// Whether a job of so many ranks can be protected so. Error: bad_input (too many processes; faults that cannot be
/// injected, or name a rank or replica that there is not).
Status check(const Protection& protection, std::uint32_t ranks);

}  // namespace holdfast::simulate::job
