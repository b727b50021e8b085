#include "replicate/launch/supervise/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace holdfast::launch {
namespace {

ssize_t read_through_signals(int from, void* to, std::size_t bytes) {
  ssize_t got = 0;
  do got = read(from, to, bytes);
  while (got < 0 && errno == EINTR);
  return got;
}

/// Only its end of the pipe is left, as standard input, and no signal that can be blocked reaches it.
void leave_the_parent(int told) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setsid();
  prctl(PR_SET_NAME, "hf-guardian");  // a `pkill holdfast` is not meant for it
  dup2(told, STDIN_FILENO);
  syscall(SYS_close_range, STDIN_FILENO + 1, ~0U, 0U);
}

/// By its descriptor, so that no other process is meant that has got the number since.
void end(pid_t launcher, int handle, std::chrono::milliseconds grace) {
  if (syscall(SYS_pidfd_send_signal, handle, SIGTERM, nullptr, 0U) != 0) return;  // waited for
  pollfd gone{handle, POLLIN, 0};
  if (poll(&gone, 1, static_cast<int>(grace.count())) == 0) kill(-launcher, SIGKILL);
}

/// The guardian's life. Only async-signal-safe calls, as the parent may have threads.
[[noreturn]] void guard(int told, std::chrono::milliseconds grace) {
  leave_the_parent(told);
  pid_t launcher = 0;
  if (read_through_signals(STDIN_FILENO, &launcher, sizeof launcher) != sizeof launcher) _exit(0);  // none was started
  const auto handle = static_cast<int>(syscall(SYS_pidfd_open, launcher, 0U));
  for (char more = 0; read_through_signals(STDIN_FILENO, &more, 1) > 0;) {
  }
  if (handle >= 0) end(launcher, handle, grace);
  _exit(0);
}

}  // namespace

Result<Guardian> Guardian::start(std::chrono::milliseconds grace) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return Status(Code::unavailable, "starting what ends the launcher", std::strerror(errno));
  const pid_t process = fork();
  const int error = errno;
  if (process == 0) {
    close(ends[1]);
    guard(ends[0], grace);
  }
  close(ends[0]);
  if (process > 0) return Guardian(process, ends[1]);
  close(ends[1]);
  return Status(Code::unavailable, "starting what ends the launcher", std::strerror(error));
}

Guardian::Guardian(Guardian&& other) noexcept
    : process_(std::exchange(other.process_, 0)), life_(std::exchange(other.life_, -1)) {}

Guardian::~Guardian() {
  if (life_ >= 0) close(life_);
  while (process_ > 0 && waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Guardian::guard_this_process() const {
  const pid_t self = getpid();
  (void)!write(life_, &self, sizeof self);
}

}  // namespace holdfast::launch
