#pragma once

#include <cstdint>
#include <string>

#include "replicate/launch/report/outcome.h"

namespace holdfast::launch {

/// What a job is called in its record.
struct JobFacts {
  std::string protocol;
  std::string mpi;
  std::string program;
};

/// A replica that sent at least this many bad copies is called suspect: its host or memory should be looked at.
inline constexpr std::uint64_t suspect_copies = 3;

/// The line after a job: "2 ranks x 3 replicas, 48,112 messages (61.2 MB) verified, 1 mismatch, 1 corrected (rank 1
/// replica 2)", from the library's record:
///   counters.messages, counters.bytes, counters.mismatches, counters.corrections
///   corrupted: [{"rank": 1, "replica": 2, "copies": 1}]
/// Members that are missing or of another type count as nothing.
std::string summary_line(const Evidence& evidence);

/// "1 of 2 injected faults never struck: flip rank 1 message 900"; empty where all did, or there are none.
std::string missed_line(const Evidence& evidence);

/// What the death of a process will mean for the job, for people.
std::string death_notice(int degree, bool goes_on, const std::string& ends_because);

/// The JSON record for --json: "holdfast.run" with version, ranks, degree, protocol, mpi, program, seconds,
/// exit {code, meaning, message, status}, counters, corrected, suspects, incidents; and whatever else the library
/// wrote.
nlohmann::ordered_json final_record(const Evidence& evidence, const Outcome& outcome, const JobFacts& facts);

}  // namespace holdfast::launch
