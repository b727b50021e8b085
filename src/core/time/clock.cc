#include "core/time/clock.h"

#include <ctime>

namespace holdfast::time {

std::int64_t steady_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace holdfast::time
