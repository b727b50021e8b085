#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/status/status.h"
#include "simulate/study/study.h"

namespace holdfast::simulate::study {

/// How runs are spread. Workers are processes: one that dies, by a defect or because memory ran out, takes one run down
/// with it, and that run is handed to another. A run that has ended three workers gets the outcome "crashed".
struct PoolOptions {
  unsigned workers = 1;   ///< of this process
  std::size_t ranks = 1;  ///< processes of the job; above 1 the others connect over TCP
  std::string meeting;    ///< path of the file by which they find this one, removed at the end; ranks > 1 only
  std::string file_name;  ///< of the study, for messages and for what it names
};

struct PoolProgress {
  std::size_t done = 0, all = 0;
  std::size_t workers = 0;
};

struct PoolEvents {
  /// A run has ended; an error stops the pool.
  std::function<Status(std::size_t run, const Finished&)> finished;
  std::function<void(const PoolProgress&)> progress;      ///< after each run and some five times a second
  std::function<void(const std::string& words)> trouble;  ///< a worker died, or was turned away
};

struct PoolEnd {
  Status status;   ///< the first error of a run, or of finished()
  int signal = 0;  ///< SIGINT, SIGTERM or SIGHUP, when one ended it before its time
};

/// Hands out `todo` (indices of the study's points) until all have ended. Forks, so call it while this process has one
/// thread. Leaves no process behind, whatever ends it.
PoolEnd run_pool(const Study& study, const std::vector<std::size_t>& todo, const PoolOptions& options,
                 const PoolEvents& events);

/// The other side: a process of the job with a rank above 0. Finds the coordinator, and keeps one worker connected to
/// it until told to end. `patience_ns`: how long the coordinator may take to appear. Errors: unavailable (it did not),
/// diverged (it is another version), internal.
Status serve_pool(const std::string& meeting, std::size_t rank, std::int64_t patience_ns);

/// This process's place in a job started by mpirun, mpiexec or srun, from the environment that Open MPI, PMI (MPICH and
/// others) and Slurm set; {0, 1} elsewhere.
struct JobPlace {
  std::size_t rank = 0, size = 1;
};
JobPlace job_place();

}  // namespace holdfast::simulate::study
