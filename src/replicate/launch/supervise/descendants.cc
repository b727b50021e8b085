#include "replicate/launch/supervise/descendants.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

namespace holdfast::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// The parent of a living process, 0 when it is gone or a zombie. /proc/<pid>/stat is "pid (name) state parent ...",
/// where the name may hold anything, so the last ')' ends it (proc(5)).
pid_t parent_of(const char* pid) {
  std::ifstream file("/proc/" + std::string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  std::size_t end = line.rfind(')');
  if (end == std::string::npos) return 0;
  char state = 0;
  int parent = 0;
  if (std::sscanf(line.c_str() + end + 1, " %c %d", &state, &parent) != 2) return 0;
  return state == 'Z' || state == 'X' ? 0 : parent;
}

void reap() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

/// True when no descendant is left before the time is up.
bool wait_until_gone(milliseconds time) {
  const auto deadline = Clock::now() + time;
  while (true) {
    reap();
    if (descendants(getpid()).empty()) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
}

int signal_all(int number) {
  int sent = 0;
  for (pid_t pid : descendants(getpid())) sent += kill(pid, number) == 0 ? 1 : 0;
  return sent;
}

}  // namespace

std::vector<pid_t> descendants(pid_t ancestor) {
  std::unordered_map<pid_t, std::vector<pid_t>> children;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return {};
  while (dirent* entry = readdir(folder)) {
    std::string_view base = entry->d_name;
    pid_t pid = 0;
    if (std::from_chars(base.data(), base.data() + base.size(), pid).ptr != base.data() + base.size()) continue;
    if (pid_t parent = parent_of(entry->d_name); parent > 0) children[parent].push_back(pid);
  }
  closedir(folder);
  std::vector<pid_t> found = children[ancestor];
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> more = children[found[i]];
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

Subreaper::Subreaper() {
  prctl(PR_GET_CHILD_SUBREAPER, &before_);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Subreaper::~Subreaper() {
  prctl(PR_SET_CHILD_SUBREAPER, before_);
}

int end_descendants(milliseconds linger, milliseconds grace) {
  if (wait_until_gone(linger)) return 0;
  int sent = signal_all(SIGTERM);
  if (wait_until_gone(grace)) return sent;
  // A process may fork while it is being killed, so the sweep is repeated a few times.
  for (int sweep = 0; sweep < 20; ++sweep) {
    signal_all(SIGKILL);
    if (wait_until_gone(milliseconds(100))) break;
  }
  return sent;
}

}  // namespace holdfast::launch
