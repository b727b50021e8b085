#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport/engine/engine.h"
#include "transport/world/plan.h"

namespace holdfast::transport {

/// What came of one world.
struct Verdict {
  std::uint64_t seed = 0;
  std::vector<std::string> complaints;  ///< of the oracle; empty when all promises were kept
  std::uint64_t messages = 0;
  std::uint64_t delivered = 0;
  std::uint64_t failed = 0;       ///< operations that ended in an error
  std::uint64_t remote = 0;       ///< operations on remote memory
  std::uint64_t remote_good = 0;  ///< of these, ended well
  std::uint64_t packets = 0;      ///< put on rails
  std::uint64_t events = 0;       ///< of the simulation
  std::int64_t duration_ns = 0;
  Counters counters;  ///< of all engines together
  bool good() const { return complaints.empty(); }
};

/// Runs the engine in the world of this seed: some nodes, some rails, and everything that can go wrong. The
/// same seed gives the same world, event by event. One thread; worlds share nothing.
Verdict run_world(std::uint64_t seed);

}  // namespace holdfast::transport
