#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace holdfast::launch {

/// A standard stream of a rank that its replicas have not written alike.
struct StreamDifference {
  int rank = 0;
  std::string stream;         ///< "stdout" or "stderr"
  std::vector<int> replicas;  ///< those that differ from the majority; all of them where there is none
  std::int64_t byte = 0;      ///< the first that differs, from 0
  std::int64_t line = 1;      ///< in which it is, from 1
  std::string odd;            ///< what the first of `replicas` has there, shortly
  std::string others;         ///< what the majority has there; without one, what `against` has
  int against = 0;            ///< a replica that differs from the first of `replicas`
  std::string good;           ///< the file with the majority's; empty without one
  bool order_only = false;    ///< the same lines in another order: threads that print have none
  bool shown = false;         ///< the user has been shown what is not the majority's
  bool taken_out = false;     ///< the user has been shown what a replica wrote that was taken out later
  bool settled = false;       ///< no harm is done: the user has the majority's, or only the order differs
};

struct StreamComparison {
  std::uint64_t streams = 0;  ///< to which any replica has written
  std::uint64_t bytes = 0;    ///< once each
  std::uint64_t tolerated = 0;
  std::vector<StreamDifference> differences;

  /// For the record: {streams, bytes, tolerated, differences: [{rank, stream, replicas, line, byte, odd, others,
  /// order_only, shown, taken_out, good}]}.
  nlohmann::ordered_json record() const;
};

/// Compares what the replicas of a job that has ended have written to standard output and standard error, as far as it
/// was the program itself that wrote: the files rank-<v>.replica-<k>.out and .err of the run directory. `replicas`:
/// those that are left, ascending; the user was shown the first one's, or the majority's where the output was `held`.
/// `patterns`: as for files, for the names rank-<v>.stdout and rank-<v>.stderr.
StreamComparison compare_streams(const std::string& run_directory, const std::vector<int>& degrees,
                                 const std::vector<int>& replicas, const std::string& patterns, bool held);

/// The same where the user was shown what `replica` wrote of a rank's stream, which led and was taken out, and
/// `against`, which led next, has it otherwise from `byte` on. `ending`: ".out" or ".err", of which the latter does no
/// harm: what a process writes that crashes is shown there, and theirs has been shown as well.
StreamDifference difference_shown(const std::string& run_directory, int rank, const std::string& ending, int replica,
                                  int against, std::int64_t byte);

/// "rank 0's stdout differs from line 3 (byte 17) on: replica 1 wrote "x = 4", the others "x = 5"".
std::string difference_line(const StreamDifference& difference);

}  // namespace holdfast::launch
