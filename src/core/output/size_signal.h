#pragma once

#include <signal.h>

#include <ctime>

namespace holdfast::output {

/// As long as it lives, a limit of file size (RLIMIT_FSIZE) is an error of write(2), EFBIG, and not a signal that ends
/// the process: SIGXFSZ is kept from this thread, and one that a write of this thread has caused is taken back.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    sigset_t pending;
    sigemptyset(&only_);
    sigaddset(&only_, SIGXFSZ);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &only_, &before_);
  }
  ~NoSizeSignal() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&only_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;

 private:
  sigset_t only_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace holdfast::output
