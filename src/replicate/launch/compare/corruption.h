#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::launch {

/// Corruption that a process of the job has seen, at the moment when it saw it (mpi/context/evidence.h).
struct Corruption {
  std::int64_t at_ns = 0;  ///< since 1970
  int fault = -1;          ///< the injected fault that struck, by its index; -1: none, a copy was wrong
  int rank = -1;           ///< which process was struck, or had sent the wrong copy
  int replica = -1;
};

/// What the files `evidence-<v>.<k>` of the run directory say, the earliest first. Lines of another job, and what is
/// damaged, are left out: they make nobody innocent, they only explain less.
std::vector<Corruption> read_corruption(const std::string& run_directory, const std::string& job);

/// "the injected 'flip rank 1 message 3' had struck rank 1 replica 2". `faults`: the injected ones.
std::string corruption_line(const Corruption& corruption, const std::vector<std::string>& faults);

/// The injected faults that struck nowhere.
std::vector<std::string> faults_that_missed(const std::vector<Corruption>& seen,
                                            const std::vector<std::string>& faults);

}  // namespace holdfast::launch
