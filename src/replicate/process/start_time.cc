#include "replicate/process/start_time.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "replicate/process/program.h"
#include "replicate/process/real_clock.h"

namespace holdfast::replicate {

namespace {

constexpr long long billion = 1'000'000'000;
/// Readings after which time begins to pass, for programs that wait for it. What a program links may read clocks too,
/// not equally often in each replica, so no single reading may count.
constexpr long long patience = 1'000'000;
/// The same of the clock by which programs sleep and look again: after so many it is the real one.
constexpr long long monotonic_patience = 1000;

std::atomic<bool> before_init{true};

/// What the clocks show while they stand, for the first thread alone.
struct {
  long long real_readings = 0;
  long long monotonic_readings = 0;
  long long waited = 0;  ///< nanoseconds by which both went on since waits ended by the clock
} standing;

long long nanoseconds(clockid_t clock) {
  timespec time{};
  real_clock_gettime(clock, &time);
  return time.tv_sec * billion + time.tv_nsec;
}

/// The moment at which the job was started, by the launcher's clocks, in nanoseconds; 0 where that is not told.
struct Epoch {
  long long real = 0;  ///< since 1970
  long long monotonic = 0;
  long long ahead = 0;  ///< monotonic_ahead()
};

Epoch find_epoch() {
  Epoch found;
  const char* text = std::getenv("HOLDFAST_RUN_EPOCH");
  if (!text) return found;
  found.real = std::atoll(text);
  const char* colon = std::strchr(text, ':');
  if (!colon) return found;
  found.monotonic = std::atoll(colon + 1);
  const long long since = nanoseconds(CLOCK_REALTIME) - found.real;
  const long long difference = found.monotonic + since - nanoseconds(CLOCK_MONOTONIC);
  if (std::llabs(difference) >= billion) found.ahead = difference;  // less is the time between readings on one host
  return found;
}

const Epoch& epoch() {
  static const Epoch found = find_epoch();
  return found;
}

/// Whether the caller is the C++ standard library; std::chrono's clocks are functions of it.
bool is_cplusplus_library(const void* caller) {
  Dl_info where{};
  return caller && dladdr(caller, &where) != 0 && where.dli_fname && std::strstr(where.dli_fname, "/libstdc++.so");
}

bool time_stands(const void* caller) {
  if (!before_init.load(std::memory_order_relaxed)) return false;
  return program_asks() || (program_is_loaded() && is_cplusplus_library(caller));
}

bool is_told(clockid_t clock) {
  return (clock == CLOCK_REALTIME ? epoch().real : epoch().monotonic) != 0;
}

/// What that clock shows while time stands, in nanoseconds.
long long shown(clockid_t clock) {
  if (clock == CLOCK_REALTIME)
    return epoch().real + standing.waited + 1000 * std::max(0LL, standing.real_readings - patience);
  if (standing.monotonic_readings > monotonic_patience) return nanoseconds(CLOCK_MONOTONIC) + monotonic_ahead();
  return epoch().monotonic + standing.waited;
}

}  // namespace

timespec file_time_before_init(const timespec& time) {
  const long long start = time_stands(nullptr) ? epoch().real : 0;
  if (start == 0 || time.tv_sec < start / billion) return time;
  return {static_cast<time_t>(start / billion),
          time.tv_sec == start / billion ? std::min<long>(time.tv_nsec, start % billion) : start % billion};
}

bool time_before_init(clockid_t clock, timespec& time, const void* caller) {
  if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || !time_stands(caller) || !is_told(clock)) return false;
  ++(clock == CLOCK_REALTIME ? standing.real_readings : standing.monotonic_readings);
  const long long now = shown(clock);
  time = {static_cast<time_t>(now / billion), static_cast<long>(now % billion)};
  return true;
}

std::int64_t ahead_before_init(clockid_t clock) {
  if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || !time_stands(nullptr) || !is_told(clock)) return 0;
  return shown(clock) - nanoseconds(clock);
}

void waited_before_init(clockid_t clock, const timespec& until) {
  if (ahead_before_init(clock) == 0) return;
  standing.waited += std::max(0LL, until.tv_sec * billion + until.tv_nsec - shown(clock));
}

void slept_before_init(long long nanoseconds) {
  if (nanoseconds > 0 && time_stands(nullptr)) standing.waited += nanoseconds;
}

std::int64_t monotonic_ahead() {
  return epoch().ahead;
}

void init_was_called() {
  before_init.store(false, std::memory_order_relaxed);
}

bool init_has_been_called() {
  return !before_init.load(std::memory_order_relaxed);
}

}  // namespace holdfast::replicate
