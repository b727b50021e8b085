#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/status/status.h"
#include "simulate/study/study.h"

namespace holdfast::simulate::study {

/// Messages between the ranks of one job. One thread.
class Messages {
 public:
  virtual ~Messages() = default;

  /// Takes this process into the job. To be called once, and after the processes that shall not be in it were forked.
  virtual Status begin() = 0;
  /// Of the job, from begin() on.
  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;
  /// Never waits for the receiver. Error (unavailable): the rank is gone.
  virtual Status send(std::size_t to, const Json& message) = 0;
  /// The next message of this rank, if there is one; never waits. Discarded JSON (is_discarded()) is nonsense. Error
  /// (unavailable): the rank is gone.
  virtual Result<std::optional<Json>> receive(std::size_t from) = 0;
  /// Leaves the job: together with all others when they are alive, which waits for them, or else alone.
  virtual void end(bool all_alive) = 0;
};

/// This process's place in a job started by mpirun, mpiexec or srun, from the environment that Open MPI, PMI (MPICH and
/// others) and Slurm set; {0, 1} elsewhere.
struct JobPlace {
  std::size_t rank = 0, size = 1;
  std::vector<std::string> libraries;  ///< MPIs that may belong to that launcher, the likeliest first
};
JobPlace job_place();

/// Messages by the MPI that started this process. `folders`: where its library is looked for
/// (libholdfast-study-openmpi.so, libholdfast-study-mpich.so). Error (unavailable): there is none that can be loaded.
/// begin() fails when MPI knows another place than `place`, as with the launcher of another MPI.
Result<std::unique_ptr<Messages>> load_mpi(const JobPlace& place, const std::vector<std::string>& folders);

}  // namespace holdfast::simulate::study
