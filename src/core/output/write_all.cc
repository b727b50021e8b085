#include "core/output/write_all.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <ctime>

namespace holdfast::output {
namespace {

/// Keeps SIGXFSZ from this thread, and takes back the one that a write of this thread has caused meanwhile.
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

}  // namespace

int write_all(int to, std::string_view text) {
  const NoSizeSignal quiet;
  while (!text.empty()) {
    const ssize_t put = ::write(to, text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno == EAGAIN) {  // whoever shares the terminal or pipe has set O_NONBLOCK
      pollfd room{to, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace holdfast::output
