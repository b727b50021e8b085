// Clocks that programs read outside MPI. Every replica gets the leader's answer, so that a time that steers the program
// or is sent to another rank is the same in all of them (RedMPI section 3.3, "Deterministic Results").
#include <array>

#include "core/time/nanoseconds.h"
#include "hooks.h"
#include "real_functions.h"
#include "replicate/libc/answers.h"
#include "replicate/libc/clocks.h"
#include "replicate/mpi/agree/agreeing_thread.h"
#include "replicate/mpi/context/runtime.h"
#include "replicate/mpi/intercept/guard.h"
#include "replicate/process/real_clock.h"
#include "replicate/process/standing_clocks.h"

namespace holdfast::replicate {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

/// How far the leader's clocks are ahead of this replica's, as far as is known: hosts count time from different
/// moments.
struct Ahead {
  std::array<std::int64_t, 16> by_clock{};  ///< POSIX clock ids are small numbers
  double wtime = 0;
  std::int64_t* of(clockid_t clock) {
    return clock >= 0 && static_cast<std::size_t>(clock) < by_clock.size() ? &by_clock[static_cast<std::size_t>(clock)]
                                                                           : nullptr;
  }
};
Ahead ahead;  // in a thread's turn

/// The leader's reading; where it made none, this replica's own, as the leader's clock would show it.
std::int64_t agreed_ns(SystemAnswer which, std::uint32_t detail, std::int64_t own, std::int64_t* difference) {
  std::int64_t value = own;
  if (agree_on_value(which, detail, value)) {
    if (difference) *difference = value - own;
    return value;
  }
  return own + (difference ? *difference : 0);
}

std::int64_t agreed_clock_ns(clockid_t clock, std::int64_t own) {
  return agreed_ns(SystemAnswer::clock, static_cast<std::uint32_t>(clock), own, ahead.of(clock));
}

}  // namespace

std::int64_t seen_ahead(clockid_t clock) {
  if (const std::int64_t standing = standing_ahead(clock); standing != 0) return standing;
  const std::int64_t* const since = agreed_clocks() ? ahead.of(clock) : nullptr;
  return since ? *since + ahead_of_host(clock) : 0;
}

double hook::Wtime() {
  const double own = real().Wtime();
  if (!runtime().verifying || !runtime().options.clocks) return own;
  double value = own;
  if (agree_on_value(SystemAnswer::mpi_clock, 0, value)) {
    ahead.wtime = value - own;
    return value;
  }
  return own + ahead.wtime;
}

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (hr::standing_time(clock, *time, __builtin_return_address(0))) return 0;
  const int code = hr::real_clock_gettime(clock, time);
  if (code != 0 || !hr::agreed_clocks()) return code;
  const hr::Inside inside;
  const std::int64_t own = holdfast::time::in_ns(*time) + hr::ahead_of_host(clock);
  const std::int64_t now = hr::agreed_clock_ns(clock, own);
  *time = {static_cast<time_t>(now / hr::second_ns), static_cast<long>(now % hr::second_ns)};
  return 0;
}

[[gnu::visibility("default")]] int gettimeofday(timeval* __restrict time, void* __restrict zone) noexcept {
  timespec now{};
  if (!hr::standing_time(CLOCK_REALTIME, now)) {
    if (!hr::agreed_clocks()) return hr::real_gettimeofday(time, zone);
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  }
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

[[gnu::visibility("default")]] time_t time(time_t* result) noexcept {
  timespec now{};
  if (!hr::standing_time(CLOCK_REALTIME, now)) {
    if (!hr::agreed_clocks()) return hr::real_time(result);
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return static_cast<time_t>(-1);
  }
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

[[gnu::visibility("default")]] int getrusage(__rusage_who_t who, rusage* usage) noexcept {
  const int code = hr::real_getrusage(static_cast<int>(who), usage);
  if (code == 0 && !hr::standing_usage(static_cast<int>(who), *usage))
    hr::agree(hr::SystemAnswer::usage, static_cast<std::uint32_t>(who), *usage);
  return code;
}

[[gnu::visibility("default")]] clock_t clock() noexcept {
  clock_t used = hr::real_clock();
  if (!hr::standing_processor_time(used)) hr::agree(hr::SystemAnswer::processor_time, 0, used);
  return used;
}

/// C11's clock; glibc's own goes straight to the kernel.
[[gnu::visibility("default")]] int timespec_get(timespec* time, int base) noexcept {
  if (base != TIME_UTC) return 0;
  return clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

[[gnu::visibility("default")]] clock_t times(tms* used) noexcept {
  struct {
    clock_t now;
    tms used;
  } both{};
  both.now = hr::real_times(&both.used);
  if (both.now == static_cast<clock_t>(-1)) return both.now;
  if (!hr::standing_process_times(both.now, both.used)) hr::agree(hr::SystemAnswer::process_times, 0, both);
  if (used) *used = both.used;
  return both.now;
}

}  // extern "C"
