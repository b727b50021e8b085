#include "replicate/process/start_time.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "replicate/process/program.h"

namespace holdfast::replicate {

namespace {

constexpr long long billion = 1'000'000'000;
/// Readings after which time begins to pass, for programs that wait for it. What a program links may read clocks too,
/// not equally often in each replica, so no single reading may count.
constexpr long long patience = 1'000'000;

std::atomic<bool> before_init{true};

/// Nanoseconds since 1970 at which the job was started; 0 where there is no such time.
long long find_epoch() {
  const char* epoch = std::getenv("HOLDFAST_RUN_EPOCH");
  return epoch ? std::atoll(epoch) : 0;
}

/// At which time stands still; 0 where it goes on.
long long standing_epoch() {
  if (!before_init.load(std::memory_order_relaxed) || !program_asks()) return 0;
  static const long long epoch = find_epoch();
  return epoch;
}

}  // namespace

timespec file_time_before_init(const timespec& time) {
  const long long epoch = standing_epoch();
  if (epoch == 0 || time.tv_sec < epoch / billion) return time;
  return {static_cast<time_t>(epoch / billion),
          time.tv_sec == epoch / billion ? std::min<long>(time.tv_nsec, epoch % billion) : epoch % billion};
}

bool time_before_init(timespec& time) {
  const long long epoch = standing_epoch();
  if (epoch == 0) return false;
  static long long readings = 0;  // of the first thread alone
  const long long now = epoch + 1000 * std::max(0LL, ++readings - patience);
  time = {static_cast<time_t>(now / billion), static_cast<long>(now % billion)};
  return true;
}

void init_was_called() {
  before_init.store(false, std::memory_order_relaxed);
}

}  // namespace holdfast::replicate
