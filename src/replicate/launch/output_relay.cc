#include "replicate/launch/output_relay.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <vector>

namespace holdfast::launch {

namespace {

constexpr int look_ms = 20;
constexpr long long most_at_once = 1 << 20;

bool write_all(int to, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t put = ::write(to, bytes, count);
    if (put < 0 && errno != EINTR) return false;
    if (put > 0) {
      bytes += put;
      count -= static_cast<std::size_t>(put);
    }
  }
  return true;
}

/// One stream of one rank.
struct Shown {
  std::string stem;  ///< of the file, up to the replica's number
  std::string ending;
  int to = STDOUT_FILENO;
  long long bytes = 0;
};

class Relay {
 public:
  Relay(const std::string& folder, int ranks, std::function<int()> leader) : leader_(std::move(leader)) {
    for (int rank = 0; rank < ranks; ++rank) {
      const std::string stem = folder + "/rank-" + std::to_string(rank) + ".replica-";
      shown_.push_back({stem, ".out", STDOUT_FILENO});
      shown_.push_back({stem, ".err", STDERR_FILENO});
    }
  }

  void run(int stop) {
    pollfd wait{stop, POLLIN, 0};
    while (::poll(&wait, 1, look_ms) <= 0) show(false);
    show(true);
  }

 private:
  void show(bool all) {
    const int leader = leader_();
    if (leader >= 0) last_ = leader;
    for (Shown& stream : shown_)
      stream.bytes += relay_lines(stream.stem + std::to_string(last_) + stream.ending, stream.bytes, stream.to, all);
  }

  std::function<int()> leader_;
  int last_ = 0;
  std::vector<Shown> shown_;
};

}  // namespace

long long relay_lines(const std::string& path, long long from, int to, bool all) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || status.st_size <= from) return 0;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  long long shown = 0;
  std::vector<char> block(static_cast<std::size_t>(std::min<long long>(most_at_once, status.st_size - from)));
  while (true) {
    const ssize_t got = ::pread(file, block.data(), block.size(), from + shown);
    if (got <= 0) break;
    auto count = static_cast<std::size_t>(got);
    const bool full = count == block.size() && static_cast<long long>(count) == most_at_once;
    while (!all && !full && count > 0 && block[count - 1] != '\n') --count;  // a line longer than a block is not waited for
    if (count == 0 || !write_all(to, block.data(), count)) break;
    shown += static_cast<long long>(count);
  }
  ::close(file);
  return shown;
}

OutputRelay::OutputRelay(std::string run_directory, int ranks, std::function<int()> leader)
    : stop_(eventfd(0, EFD_CLOEXEC)) {
  sigset_t all;  // signals belong to the main thread
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([relay = Relay(run_directory, ranks, std::move(leader)), stop = stop_]() mutable { relay.run(stop); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

OutputRelay::~OutputRelay() {
  const std::uint64_t one = 1;
  while (::write(stop_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  thread_.join();
  ::close(stop_);
}

}  // namespace holdfast::launch
