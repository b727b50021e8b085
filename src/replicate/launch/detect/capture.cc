#include "replicate/launch/detect/capture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

extern char** environ;

namespace holdfast::launch {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  std::array<int, 2> end{-1, -1};
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool open() { return pipe2(end.data(), O_CLOEXEC) == 0; }
  void close(int which) {
    if (end[which] >= 0) ::close(end[which]);
    end[which] = -1;
  }
  ~Pipe() {
    close(0);
    close(1);
  }
};

std::vector<char*> environment_without(const std::vector<std::string>& unset) {
  std::vector<char*> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    bool drop = false;
    for (const std::string& name : unset) drop = drop || text.starts_with(name + "=");
    if (!drop) kept.push_back(*entry);
  }
  kept.push_back(nullptr);
  return kept;
}

int spawn(const std::vector<std::string>& argv, const std::vector<std::string>& unset, const Pipe& output,
          const Pipe& errors, pid_t& child) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::vector<char*> environment = environment_without(unset);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.end[1], 1);
  posix_spawn_file_actions_adddup2(&actions, errors.end[1], 2);
  int error = posix_spawn(&child, words[0], &actions, nullptr, words.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// Appends what is there; false at the end of the stream.
bool drain(int fd, std::string& text) {
  std::array<char, 65536> buffer;
  ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  text.append(buffer.data(), static_cast<std::size_t>(got));
  return got > 0;
}

/// Reads both streams to their ends; false when the limit passes first.
bool read_both(Pipe& output, Pipe& errors, Captured& captured, Clock::time_point deadline) {
  while (output.end[0] >= 0 || errors.end[0] >= 0) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> waits{{{output.end[0], POLLIN, 0}, {errors.end[0], POLLIN, 0}}};
    if (poll(waits.data(), waits.size(), static_cast<int>(left)) < 0 && errno != EINTR) return false;
    if (waits[0].revents != 0 && !drain(output.end[0], captured.output)) output.close(0);
    if (waits[1].revents != 0 && !drain(errors.end[0], captured.errors)) errors.close(0);
  }
  return true;
}

}  // namespace

Result<Captured> capture(const std::vector<std::string>& argv, const std::vector<std::string>& unset,
                         std::chrono::milliseconds limit) {
  const std::string doing = "running " + argv[0];
  Pipe output;
  Pipe errors;
  if (!output.open() || !errors.open()) return Status(Code::io, doing, std::strerror(errno));
  pid_t child = -1;
  if (int error = spawn(argv, unset, output, errors, child); error != 0)
    return Status(Code::io, doing, std::strerror(error));
  output.close(1);
  errors.close(1);
  Captured captured;
  bool ended = read_both(output, errors, captured, Clock::now() + limit);
  if (!ended) kill(child, SIGKILL);
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  if (!ended) return Status(Code::io, doing, "it did not end within " + std::to_string(limit.count()) + " ms");
  captured.exit_status = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  return captured;
}

}  // namespace holdfast::launch
