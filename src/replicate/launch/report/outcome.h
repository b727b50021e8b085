#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replicate/launch/compare/corruption.h"
#include "replicate/launch/supervise/incident.h"
#include "replicate/launch/supervise/membership.h"
#include "replicate/launch/supervise/supervise.h"

namespace holdfast::launch {

/// All that is known after a job has ended.
struct Evidence {
  Ended ended;
  nlohmann::ordered_json record;  ///< the library's record.json, null without one
  nlohmann::ordered_json tally;   ///< without one: what processes had counted when they were ended (tally.h), or null
  std::vector<Incident> incidents;
  std::vector<Corruption> corruption;  ///< that was seen, the earliest first
  std::vector<std::string> faults;     ///< injected
  std::vector<Death> deaths;           ///< in the order in which they were noticed
  bool died_at_start = false;          ///< the first of them while others were in MPI_Init, which it left waiting
  bool goes_on = false;                ///< the job was to go on without those replicas
  std::string verdict;                 ///< why the job was ended: it could not go on, or not begin
  bool programs_doing = false;         ///< the verdict is on the program itself
  std::string early_end;               ///< of a rank that ended without MPI_Finalize, in most of its replicas
  std::optional<int> status;           ///< goes_on: with what the processes that were left ended
  std::optional<int> launched;         ///< with what the scripts around the program ended, as far as they said so
  int ranks = 1;
  int degree = 1;            ///< the most replicas that a rank has
  std::vector<int> degrees;  ///< by rank, where they have different numbers; else empty
  std::string missing;       ///< what the job's end cannot be judged without and was not there; empty: nothing
  bool entered = true;       ///< false where no process has been in MPI_Init
  bool began = true;         ///< false where nothing shows that any process of the job was started
  bool disk_full = false;  ///< the run directory takes nothing more, so that what is not there may not be told from it
};

inline int degree_of(const Evidence& evidence, int rank) {
  const bool known = rank >= 0 && static_cast<std::size_t>(rank) < evidence.degrees.size();
  return known ? evidence.degrees[static_cast<std::size_t>(rank)] : evidence.degree;
}

struct Outcome {
  int code = 0;         ///< one of exit_codes()
  std::string message;  ///< one line: what happened; empty on success
};

/// Judges a job. A signal of the user and the time limit come first; then the incidents, the root before what follows
/// from it: a refused function, corruption that could not be corrected, an application that failed by itself (it says
/// so, or all replicas of a rank crashed or aborted alike), then anything that only some replicas did; then the status
/// of the launcher, whose own failure it is where no process began. A success without MPI_Init is that of another
/// program than was meant, and one without the library's record a defect: nothing would show that the job was verified.
/// Pure.
Outcome judge(const Evidence& evidence);

/// Of a job that ended well by itself, whose transport counted messages that were reported as sent and are lost.
Outcome judge_lost_messages(std::uint64_t messages);

}  // namespace holdfast::launch
