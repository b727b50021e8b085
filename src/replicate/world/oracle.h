#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "replicate/world/plan.h"

namespace holdfast::replicate {

/// One receive of one process, as its program saw it.
struct Delivery {
  bool done = false;
  bool cancelled = false;   ///< it took no message
  bool skipped = false;     ///< all messages had been received
  std::size_t message = 0;  ///< which one MPI matched, as the simulated MPI knows
  std::int32_t source = 0;  ///< what the program was told
  std::int32_t tag = 0;
  std::vector<std::byte> bytes;
};

/// One result of one process, as its program has it.
struct ResultTaken {
  bool done = false;
  std::vector<std::byte> bytes;
};

/// How a world ended.
struct Ending {
  bool stuck = false;  ///< nothing moves any more, and not everybody is done
  bool failed = false;
  std::string incident;
  std::vector<std::vector<std::vector<Delivery>>> deliveries;     ///< by rank, replica and receive
  std::vector<std::vector<std::vector<ResultTaken>>> windows;     ///< by epoch, rank and replica
  std::vector<std::vector<ResultTaken>> results;                  ///< by result and replica
  std::vector<std::vector<std::vector<ResultTaken>>> reductions;  ///< by reduction, rank and replica
  /// By rank, replica and thread: what programs were told.
  std::vector<std::vector<std::vector<std::vector<std::int64_t>>>> decided;
  std::vector<std::vector<std::vector<std::byte>>> files;  ///< by write: what was written
  std::vector<std::vector<ResultTaken>> outcomes;          ///< by write and replica: what programs were told
  std::vector<std::string> left;                           ///< what living processes still keep
};

/// What the engine promises, judged from the plan and from what programs were given, with nothing of the engine's: no
/// wrong byte where most senders sent the right ones; the same messages in the same places in all replicas; an end, and
/// an end by an incident only where something happened that cannot be put right; and nothing kept in memory.
std::vector<std::string> judge(const Plan& plan, const Ending& ending);

}  // namespace holdfast::replicate
