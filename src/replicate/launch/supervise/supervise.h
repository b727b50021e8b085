#pragma once

#include <chrono>
#include <vector>

#include "core/status/status.h"
#include "replicate/launch/detect/command.h"
#include "replicate/launch/supervise/signal_watch.h"

namespace holdfast::launch {

struct SuperviseOptions {
  std::chrono::milliseconds time_limit{0};                    ///< 0: none
  std::chrono::milliseconds grace = std::chrono::seconds(8);  ///< between one means of ending the job and the next
  std::vector<int> end_descriptors;  ///< the job is to be ended when one is readable; -1: it never is
  /// Readable when all processes of the job have ended: a launcher that is still there after the grace is ended. -1:
  /// never.
  int over_descriptor = -1;
  int output_descriptor = -1;  ///< the launcher's standard output; -1: this process's own
  int error_descriptor = -1;   ///< the launcher's standard error; -1: this process's own
  std::chrono::milliseconds linger = std::chrono::milliseconds(500);  ///< for stragglers after the launcher's end
};

/// How a launcher ended.
struct Ended {
  int exit_status = 0;  ///< meaningful when signal is 0
  int signal = 0;       ///< that ended the launcher
  int user_signal = 0;  ///< the first INT, TERM or HUP that was passed on; USR1 or USR2 only if the job ended by it
  bool timed_out = false;
  int stragglers = 0;  ///< processes that had to be ended after the launcher
  double seconds = 0;
};

/// Runs a launcher to its end: as a child in a process group of its own, its standard input empty. Signals that `watch`
/// holds are passed on to it; after INT, TERM or HUP, or when the time limit passes, everything that the job started on
/// this host is ended by TERM and then KILL if it is still there after the grace. When the launcher has ended, nothing
/// that descends from it is left. Call in the main thread. Error: unavailable when the launcher cannot be started.
Result<Ended> supervise(const Command& command, SignalWatch& watch, const SuperviseOptions& options);

}  // namespace holdfast::launch
