#pragma once

#include <signal.h>

namespace holdfast::launch {

/// Takes over the signals that a launcher passes on (INT, TERM, HUP, USR1, USR2; those that are ignored, as under
/// nohup(1), stay ignored) and SIGCHLD: while it lives they are blocked in the calling thread and in threads made from
/// then on, and wait in a file descriptor. Children that are to see the original mask call restore_mask() after fork.
/// Make it in the main thread before others start.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Readable when a signal waits; -1 when the system has no signalfd left.
  int descriptor() const { return descriptor_; }
  /// The next signal that waits, 0 if none.
  int next();
  /// Async-signal-safe: for the child, between fork and exec.
  void restore_mask() const;

 private:
  sigset_t before_{};
  int descriptor_ = -1;
};

}  // namespace holdfast::launch
