#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/status/status.h"
#include "simulate/study/messages.h"
#include "simulate/study/study.h"

namespace holdfast::simulate::study {

/// How runs are spread. Workers are processes: one that dies, by a defect or because memory ran out, takes one run down
/// with it, and that run is handed to another. A run that has ended three workers gets the outcome "crashed".
struct PoolOptions {
  unsigned workers = 1;          ///< of this process
  Messages* messages = nullptr;  ///< to the other ranks of the job, each with one worker; null without a job
  /// A rank that has said nothing for so long is given up, and its run goes to another. It may come back.
  std::int64_t silence_ns = 60'000'000'000;
};

struct PoolProgress {
  std::size_t done = 0, all = 0;
  std::size_t workers = 0;
};

struct PoolEvents {
  /// A run has ended; an error stops the pool.
  std::function<Status(std::size_t run, const Finished&)> finished;
  std::function<void(const PoolProgress&)> progress;      ///< after each run and some five times a second
  std::function<void(const std::string& words)> trouble;  ///< a worker died, or a rank is silent
};

struct PoolEnd {
  Status status;               ///< the first error of a run, or of finished()
  int signal = 0;              ///< SIGINT, SIGTERM or SIGHUP, when one ended it before its time
  std::int64_t waited_ns = 0;  ///< all workers of this process together, without a run, from their start to the end
};

/// Hands out `todo` (indices of the study's points) until all have ended, and tells the other ranks (rank.h) to end.
/// Forks, and calls messages->begin() after that, so call it while this process has one thread. Leaves no process
/// behind, whatever ends it.
PoolEnd run_pool(const Study& study, const std::vector<std::size_t>& todo, const PoolOptions& options,
                 const PoolEvents& events);

}  // namespace holdfast::simulate::study
