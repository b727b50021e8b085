#include "replicate/mpi/start_time.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace holdfast::replicate {

namespace {

constexpr long long billion = 1'000'000'000;
/// Readings after which time begins to pass, for programs that wait for it. What a program links may read clocks too, not
/// equally often in each replica, so no single reading may count.
constexpr long long patience = 1'000'000;

std::atomic<bool> standing{false};

/// Nanoseconds since 1970 at which the job was started; 0 where there is no such time for this process.
long long find_epoch() {
  const char* epoch = std::getenv("HOLDFAST_RUN_EPOCH");
  const char* program = std::getenv("HOLDFAST_RUN_PROGRAM");
  if (!epoch || !program) return 0;
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0 || std::string_view(path, static_cast<std::size_t>(length)) != program) return 0;
  return std::atoll(epoch);
}

}  // namespace

bool time_before_init(timespec& time) {
  if (!standing.load(std::memory_order_relaxed) || gettid() != getpid()) return false;
  static const long long epoch = find_epoch();
  if (epoch == 0) return false;
  static long long readings = 0;  // of the first thread alone
  const long long now = epoch + 1000 * std::max(0LL, ++readings - patience);
  time = {static_cast<time_t>(now / billion), static_cast<long>(now % billion)};
  return true;
}

void program_begins() {
  standing.store(true, std::memory_order_relaxed);
}

void init_was_called() {
  standing.store(false, std::memory_order_relaxed);
}

}  // namespace holdfast::replicate
