// Clocks that programs read outside MPI. Every replica gets the leader's answer, so that a time that steers the program
// or is sent to another rank is the same in all of them (RedMPI section 3.3, "Deterministic Results").
#include <bit>

#include "hooks.h"
#include "real_functions.h"
#include "replicate/mpi/decide.h"
#include "replicate/mpi/guard.h"
#include "replicate/mpi/real_clock.h"
#include "replicate/mpi/start_time.h"

namespace holdfast::replicate {

namespace {

/// Which clock a decision answers: POSIX clock ids are small numbers, the others stand above them.
enum : int { wtime_clock = 1000, day_clock, seconds_clock, usage_clock, processor_clock, process_times };

std::uint64_t word(long value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace

double hook::Wtime() {
  std::uint64_t words[3] = {std::bit_cast<std::uint64_t>(real().Wtime()), 0, 0};
  if (runtime().verifying && runtime().options.clocks) decide_words(wtime_clock, words);
  return std::bit_cast<double>(words[0]);
}

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (clock == CLOCK_REALTIME && hr::time_before_init(*time)) return 0;
  const int code = hr::real_clock_gettime(clock, time);
  if (code != 0 || !hr::agreed_clocks()) return code;
  const hr::Inside inside;
  std::uint64_t words[3] = {hr::word(time->tv_sec), hr::word(time->tv_nsec), 0};
  hr::decide_words(static_cast<int>(clock), words);
  *time = {static_cast<time_t>(words[0]), static_cast<long>(words[1])};
  return 0;
}

[[gnu::visibility("default")]] int gettimeofday(timeval* __restrict time, void* __restrict zone) noexcept {
  timespec start{};
  if (hr::time_before_init(start)) {
    *time = {start.tv_sec, start.tv_nsec / 1000};
    return 0;
  }
  const int code = hr::real_gettimeofday(time, zone);
  if (code != 0 || !hr::agreed_clocks()) return code;
  const hr::Inside inside;
  std::uint64_t words[3] = {hr::word(time->tv_sec), hr::word(time->tv_usec), 0};
  hr::decide_words(hr::day_clock, words);
  *time = {static_cast<time_t>(words[0]), static_cast<suseconds_t>(words[1])};
  return 0;
}

[[gnu::visibility("default")]] time_t time(time_t* result) noexcept {
  time_t now = hr::real_time(nullptr);
  timespec start{};
  if (hr::time_before_init(start)) {
    now = start.tv_sec;
  } else if (hr::agreed_clocks()) {
    const hr::Inside inside;
    std::uint64_t words[3] = {hr::word(now), 0, 0};
    hr::decide_words(hr::seconds_clock, words);
    now = static_cast<time_t>(words[0]);
  }
  if (result) *result = now;
  return now;
}

[[gnu::visibility("default")]] int getrusage(__rusage_who_t who, rusage* usage) noexcept {
  const int code = hr::real_getrusage(static_cast<int>(who), usage);
  if (code != 0 || !hr::agreed_clocks()) return code;
  const hr::Inside inside;
  constexpr long million = 1000000;
  std::uint64_t words[3] = {hr::word(usage->ru_utime.tv_sec * million + usage->ru_utime.tv_usec),
                            hr::word(usage->ru_stime.tv_sec * million + usage->ru_stime.tv_usec),
                            hr::word(usage->ru_maxrss)};
  hr::decide_words(hr::usage_clock, words);
  *usage = {};
  usage->ru_utime = {static_cast<long>(words[0]) / million, static_cast<long>(words[0]) % million};
  usage->ru_stime = {static_cast<long>(words[1]) / million, static_cast<long>(words[1]) % million};
  usage->ru_maxrss = static_cast<long>(words[2]);
  return 0;
}

[[gnu::visibility("default")]] clock_t clock() noexcept {
  const clock_t own = hr::real_clock();
  if (!hr::agreed_clocks()) return own;
  const hr::Inside inside;
  std::uint64_t words[3] = {hr::word(own), 0, 0};
  hr::decide_words(hr::processor_clock, words);
  return static_cast<clock_t>(words[0]);
}

/// C11's clock; glibc's own goes straight to the kernel.
[[gnu::visibility("default")]] int timespec_get(timespec* time, int base) noexcept {
  if (base != TIME_UTC) return 0;
  return clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

[[gnu::visibility("default")]] clock_t times(tms* used) noexcept {
  const clock_t own = hr::real_times(used);
  if (own == static_cast<clock_t>(-1) || !hr::agreed_clocks()) return own;
  const hr::Inside inside;
  std::uint64_t words[3] = {hr::word(own), used ? hr::word(used->tms_utime) : 0, used ? hr::word(used->tms_stime) : 0};
  hr::decide_words(hr::process_times, words);
  if (used) *used = {static_cast<clock_t>(words[1]), static_cast<clock_t>(words[2]), 0, 0};
  return static_cast<clock_t>(words[0]);
}

}  // extern "C"
