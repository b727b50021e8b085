#include "core/time/clock.h"

#include <ctime>

#include "core/time/nanoseconds.h"

namespace holdfast::time {

std::int64_t steady_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return in_ns(now);
}

}  // namespace holdfast::time
