#include "replicate/launch/supervise/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "replicate/launch/supervise/descendants.h"
#include "replicate/launch/supervise/guardian.h"

extern char** environ;

namespace holdfast::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// argv and environment in the form that execve takes, made before fork.
class Image {
 public:
  explicit Image(const Command& command) : command_(command) {
    for (const std::string& word : command_.argv) words_.push_back(const_cast<char*>(word.c_str()));
    words_.push_back(nullptr);
    for (char** entry = environ; *entry != nullptr; ++entry)
      if (!replaced(*entry)) environment_.push_back(*entry);
    for (const auto& [variable, value] : command_.environment)
      entries_.emplace_back(variable).append("=").append(value);
    for (std::string& entry : entries_) environment_.push_back(entry.data());
    environment_.push_back(nullptr);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  void execute() const { execve(words_[0], words_.data(), environment_.data()); }

 private:
  bool replaced(std::string_view entry) const {
    return std::any_of(command_.environment.begin(), command_.environment.end(), [&](const Variable& variable) {
      return entry.starts_with(variable.first) && entry.substr(variable.first.size()).starts_with('=');
    });
  }

  Command command_;
  std::vector<char*> words_;
  std::vector<std::string> entries_;
  std::vector<char*> environment_;
};

/// In the child. Only async-signal-safe calls. Does not return.
[[noreturn]] void become(const Image& image, const SignalWatch& watch, const Guardian& guardian, int report,
                         const SuperviseOptions& options) {
  setpgid(0, 0);
  guardian.guard_this_process();  // if holdfast itself is killed, the launcher must not go on alone
  int empty = open("/dev/null", O_RDONLY);
  if (empty > 0) dup2(empty, 0);
  if (empty > 0) close(empty);
  if (options.output_descriptor >= 0) dup2(options.output_descriptor, STDOUT_FILENO);
  if (options.error_descriptor >= 0) dup2(options.error_descriptor, STDERR_FILENO);
  watch.restore_mask();
  image.execute();
  int error = errno;
  ssize_t told = write(report, &error, sizeof error);
  _exit(told == sizeof error ? 126 : 127);
}

/// Starts the launcher; a child that cannot execute it tells errno through a pipe that exec closes.
Result<pid_t> start(const Command& command, const SignalWatch& watch, const Guardian& guardian,
                    const SuperviseOptions& options) {
  const std::string doing = "starting the launcher " + command.argv[0];
  std::array<int, 2> report{};
  if (pipe2(report.data(), O_CLOEXEC) != 0) return Status(Code::unavailable, doing, std::strerror(errno));
  const Image image(command);
  pid_t child = fork();
  if (child == 0) become(image, watch, guardian, report[1], options);
  int error = errno;
  close(report[1]);
  if (child > 0) {
    setpgid(child, child);  // as the child does: whoever comes first
    error = 0;
    while (read(report[0], &error, sizeof error) < 0 && errno == EINTR) {
    }
  }
  close(report[0]);
  if (error == 0) return child;
  if (child > 0) waitpid(child, nullptr, 0);
  return Status(Code::unavailable, doing, std::strerror(error), "holdfast doctor says what is installed");
}

/// The launcher's life from start to end.
class Watcher {
 public:
  Watcher(pid_t child, Guardian guardian, SignalWatch& watch, const SuperviseOptions& options)
      : child_(child), guardian_(std::move(guardian)), watch_(watch), options_(options), started_(Clock::now()) {
    if (options.time_limit.count() > 0) deadline_ = started_ + options.time_limit;
  }

  Ended run() {
    while (!gone_) {
      const bool may_be_told = stage_ == Stage::running;
      std::vector<pollfd> waits{{watch_.descriptor(), POLLIN, 0},
                                {may_be_told ? options_.over_descriptor : -1, POLLIN, 0}};
      for (const int each : options_.end_descriptors) waits.push_back({may_be_told ? each : -1, POLLIN, 0});
      poll(waits.data(), waits.size(), milliseconds_left());
      if (waits[1].revents != 0) enter(Stage::over);
      if (std::any_of(waits.begin() + 2, waits.end(), [](const pollfd& each) { return each.revents != 0; }))
        ask_to_end();
      while (int number = watch_.next()) {
        if (number != SIGCHLD) pass_on(number);
      }
      reap();
      if (!gone_ && Clock::now() >= deadline_) escalate();
    }
    ended_.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    note_other_signal();
    guardian_.reset();
    ended_.stragglers = end_descendants(options_.linger, options_.grace);
    return ended_;
  }

 private:
  enum class Stage { running, over, asked, terminated, killed };

  int milliseconds_left() const {
    if (deadline_ == Clock::time_point::max()) return -1;
    auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, 1'000'000));
  }

  void pass_on(int number) {
    kill(child_, number);
    if (number == SIGUSR1 || number == SIGUSR2) {
      other_signal_ = number;
      return;
    }
    if (ended_.user_signal == 0) ended_.user_signal = number;
    if (stage_ <= Stage::over) enter(Stage::asked);
  }

  void ask_to_end() {
    kill(child_, SIGTERM);
    enter(Stage::asked);
  }

  void enter(Stage stage) {
    stage_ = stage;
    deadline_ = Clock::now() + options_.grace;
  }

  /// The deadline of the present stage has passed: the next, stronger means.
  void escalate() {
    switch (stage_) {
      case Stage::running:
        ended_.timed_out = true;
        return ask_to_end();
      case Stage::over:
        return ask_to_end();
      case Stage::asked:
        kill(-child_, SIGTERM);
        for (pid_t pid : descendants(getpid())) kill(pid, SIGTERM);
        return enter(Stage::terminated);
      case Stage::terminated:
      case Stage::killed:
        kill(-child_, SIGKILL);
        for (pid_t pid : descendants(getpid())) kill(pid, SIGKILL);
        return enter(Stage::killed);
    }
  }

  /// Collects the launcher, and orphans of the job that this process has inherited.
  void reap() {
    int state = 0;
    while (pid_t pid = waitpid(-1, &state, WNOHANG)) {
      if (pid < 0 && errno != EINTR) return;
      if (pid != child_) continue;
      gone_ = true;
      ended_.exit_status = WIFEXITED(state) ? WEXITSTATUS(state) : 0;
      ended_.signal = WIFSIGNALED(state) ? WTERMSIG(state) : 0;
    }
  }

  /// USR1 and USR2 need not end a job; they count only where the launcher ended by them.
  void note_other_signal() {
    bool by_it = ended_.signal == other_signal_ || ended_.exit_status == 128 + other_signal_;
    if (other_signal_ != 0 && ended_.user_signal == 0 && by_it) ended_.user_signal = other_signal_;
  }

  pid_t child_;
  std::optional<Guardian> guardian_;
  SignalWatch& watch_;
  SuperviseOptions options_;
  Clock::time_point started_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Stage stage_ = Stage::running;
  Ended ended_;
  int other_signal_ = 0;
  bool gone_ = false;
};

}  // namespace

Result<Ended> supervise(const Command& command, SignalWatch& watch, const SuperviseOptions& options) {
  Subreaper subreaper;
  auto guardian = Guardian::start(options.grace);
  if (!guardian.ok()) return guardian.status();
  auto child = start(command, watch, guardian.value(), options);
  if (!child.ok()) return child.status();
  return Watcher(child.value(), std::move(guardian).value(), watch, options).run();
}

}  // namespace holdfast::launch
