#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/status/status.h"
#include "record/rank_reader.h"

namespace holdfast::record {

/// What is known of a trace: a folder with a file for each rank (docs/spec/recorded-trace.md).
struct Trace {
  std::uint64_t ranks = 0;  ///< of the job
  std::string mpi, job;
  std::vector<RankFile> files;     ///< by rank; of one that is missing nothing is known
  std::vector<std::string> wrong;  ///< one line each: what is missing or damaged, and where
  std::uint64_t calls = 0, bytes = 0;
  std::int64_t elapsed_ns = 0;  ///< of the longest rank
};

/// Reads a trace, one rank after another, and hands each rank's calls to the visitor that is made for it, which must
/// live on. What is damaged is skipped and named in `wrong`. Errors: not_found, bad_input (no trace, files of several
/// jobs, nothing of it is intact), io.
Result<Trace> read_trace(const std::string& folder, const std::function<Visitor&(std::uint64_t rank)>& visitor_of);

/// How many ranks read_trace() will find in a trace, by the first head that there is: for who must know before the
/// calls. Errors: not_found, bad_input (no trace, more ranks than fit into the memory), io.
Result<std::uint64_t> ranks_of_trace(const std::string& folder);

}  // namespace holdfast::record
