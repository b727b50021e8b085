#pragma once

#include <sys/types.h>

#include <chrono>

#include "core/status/status.h"

namespace holdfast::launch {

/// Ends a launcher whose `holdfast run` was killed: a process of its own, which sees that the other is gone by the end
/// of a pipe. It sends the launcher SIGTERM once, and SIGKILL to its process group where it is still there after the
/// grace. Once, because mpirun and prterun leave a job's processes behind when a second SIGTERM follows the first, and
/// PR_SET_PDEATHSIG sends one for each thread of a parent that dies.
///
/// It ignores all other signals, holds no descriptor of its parent's, and has a session of its own.
class Guardian {
 public:
  /// Error: unavailable when there can be no further process or pipe. Call before the launcher is started.
  static Result<Guardian> start(std::chrono::milliseconds grace);
  Guardian(Guardian&& other) noexcept;
  Guardian& operator=(Guardian&&) = delete;
  /// The launcher has ended and was waited for: so does the guardian. A launcher that is still there is ended.
  ~Guardian();

  /// In the child that becomes the launcher: it is the one to end from here on. Async-signal-safe.
  void guard_this_process() const;

 private:
  Guardian(pid_t process, int life) : process_(process), life_(life) {}

  pid_t process_;
  int life_;  ///< write end of the pipe; closed on exec, and with the last of the processes that hold it
};

}  // namespace holdfast::launch
