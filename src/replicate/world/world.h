#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "replicate/engine/counters.h"
#include "replicate/world/plan.h"

namespace holdfast::replicate {

/// A fault of the engine that is made from outside it, by its host and its contents, to try the oracle.
enum class Planted : std::uint8_t {
  none,
  blind_digests,        ///< all bytes have the same digest
  lost_statements,      ///< what is said in disputes never leaves
  lost_corrections,     ///< nor do corrections
  altered_corrections,  ///< copies that correct others have a byte wrong
  idle_overwrite,       ///< what is to be corrected is not written
  lost_decisions,       ///< followers never hear what the leader decided
  false_matches,        ///< followers hear of another source
  false_numbers,        ///< or of another request that is done, or another outcome of a cancel
  false_flags,          ///< or that a test failed once more than it did
  lost_successions,     ///< after a leader's death nobody says what it has heard
  lost_legacies,        ///< nor gives others what it has heard
  lost_repetitions,     ///< whoever has no majority for a reduction does not ask the others
  false_majorities,     ///< or is told that they have one
  unheard_deaths,       ///< the engine is not told that a replica is gone
  cut_requeues,         ///< of a message that is kept for the next receive the second half is forgotten
  hasty_probes,         ///< a follower's probe takes what an earlier receive may own
  idle_copies,          ///< what the leader gives of what it alone has done is not taken
  doubled_digests,      ///< each digest arrives twice
  lost_ballots,         ///< what one has of a result is not said
  lost_contests,        ///< nor are copies of one without a majority sent
  false_turns,          ///< followers hear of another thread's turn
  lawless_threads,      ///< a follower's threads wait for no turn
  lost_wakes,           ///< a thread that waits for its turn is not told of it
  one_order,            ///< threads that are told apart by their calls ask in one order
  false_posters,        ///< followers hear of another poster of a wildcard
  forgotten_memory,     ///< nobody finds a message that was delivered in its program's memory
  unread_checks,        ///< a flipped bit of a digest is taken for what was said
};
struct PlantedName {
  Planted planted;
  std::string_view name;
  std::uint64_t within = 200;  ///< so many worlds one notices
};
const std::vector<PlantedName>& planted_names();

/// What came of one world.
struct WorldReport {
  std::uint64_t seed = 0;
  std::vector<std::string> complaints;  ///< empty when all promises were kept
  bool failed = false;                  ///< ended by an incident
  std::string incident;
  bool diverges = false;  ///< the program of one process goes another way
  bool threads = false;   ///< processes have several threads,
  bool ordered = false;   ///< which go in the leader's order
  bool silent = false;    ///< nothing moves any more, which the silence limit ends
  std::uint64_t events = 0;
  std::uint64_t deliveries = 0;
  Counters counters;  ///< of all engines together
  bool good() const { return complaints.empty(); }
};

/// Runs the shipped engine in the world of this seed: ranks, replicas, programs that send and receive, and what goes
/// wrong. The same seed gives the same world, event by event. `told`: hears each event. One thread; worlds share
/// nothing.
WorldReport run_world(std::uint64_t seed, Planted planted = Planted::none,
                      const std::function<void(const std::string&)>& told = nullptr);

}  // namespace holdfast::replicate
