#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace holdfast::launch {

/// Why a job ended early, or what it could not mend, as the process that diagnosed it wrote it into the run directory:
/// {"kind": "crash", "rank": 0, "replica": 1, "message": "one line", "call": 12, "signal": 11, ...}.
struct Incident {
  std::string kind;  ///< uncorrected, diverged, silent, refused, application, crash, abort, bad_input, outvoted,
                     ///< lost_peer; or unreadable
  int rank = -1;     ///< of the application
  int replica = -1;
  std::string message;           ///< one line
  long long call = -1;           ///< number of the communication call, -1 unknown
  int signal = 0;                ///< crash: which
  std::int64_t written_ns = 0;   ///< when its file was, since 1970; 0 unknown
  nlohmann::ordered_json whole;  ///< everything in the file
};

/// The incident in a file's text. Files are written by dying processes, so anything may be missing: a text that is cut
/// off or no object gives kind "unreadable" with what the file's name says ("incident-<rank>.<replica>.json").
Incident read_incident(const std::string& text, const std::string& file_name);

/// All incidents of a run directory, in the order of ranks and replicas. One that names another job than `job`, or that
/// was begun and not finished, tells that something happened and not what: its kind is "unreadable".
std::vector<Incident> read_incidents(const std::string& folder, const std::string& job = {});

}  // namespace holdfast::launch
