#include "replicate/process/standing_clocks.h"

#include <dlfcn.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "core/time/nanoseconds.h"
#include "replicate/process/program.h"
#include "replicate/process/real_clock.h"

namespace holdfast::replicate {

namespace {

constexpr std::int64_t billion = 1'000'000'000;
/// Readings after which time begins to pass, for programs that wait for it.
constexpr std::int64_t patience = 1'000'000;
/// The same of the clocks by which programs sleep and look again, and of processor times.
constexpr std::int64_t short_patience = 1000;
constexpr clockid_t clocks_since_start[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME};

enum class Phase : std::uint8_t { before_init, in_mpi, after_finalize };
std::atomic<Phase> phase{Phase::before_init};

/// What the clocks show while they stand, for the first thread alone.
struct Standing {
  Moment shown;   ///< at the beginning
  Moment origin;  ///< this host's clocks then
  std::int64_t real_readings = 0;
  std::int64_t since_start_readings = 0;
  std::int64_t processor_readings = 0;
  std::int64_t waited = 0;  ///< nanoseconds by which clocks went on since waits ended by one of them
  /// By how many nanoseconds processor times, and the time of day, were ahead of this process's and this host's at
  /// MPI_Init, from which on they go on. Any thread.
  std::atomic<std::int64_t> processor_ahead{0};
  std::atomic<std::int64_t> day_ahead{0};
};

/// The coarse clocks are the others, told less often.
clockid_t finest(clockid_t clock) {
  if (clock == CLOCK_REALTIME_COARSE) return CLOCK_REALTIME;
  return clock == CLOCK_MONOTONIC_COARSE ? CLOCK_MONOTONIC : clock;
}

bool is_since_start(clockid_t clock) {
  return std::find(std::begin(clocks_since_start), std::end(clocks_since_start), clock) != std::end(clocks_since_start);
}

bool is_processor_time(clockid_t clock) {
  return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

std::int64_t host_ns(clockid_t clock) {
  timespec time{};
  real_clock_gettime(clock, &time);
  return time::in_ns(time);
}

std::int64_t& ns_of(Moment& moment, clockid_t clock) {
  return moment.shown_ns[static_cast<std::size_t>(clock)];
}

/// The moment at which the job was started, by the launcher's clocks, and how far they are ahead of this host's.
struct Epoch {
  Moment moment;
  std::array<std::int64_t, CLOCK_BOOTTIME + 1> ahead{};
  std::int64_t ticks_ahead = 0;
};

Epoch find_epoch() {
  Epoch found;
  const char* text = std::getenv("HOLDFAST_RUN_EPOCH");
  if (!text) return found;
  std::int64_t* const told[] = {&ns_of(found.moment, CLOCK_REALTIME), &ns_of(found.moment, CLOCK_MONOTONIC),
                                &ns_of(found.moment, CLOCK_MONOTONIC_RAW), &ns_of(found.moment, CLOCK_BOOTTIME),
                                &found.moment.ticks};
  for (std::int64_t* number : told) {
    *number = std::atoll(text);
    text = std::strchr(text, ':');
    if (!text) break;
    ++text;
  }
  // A host whose time of day is behind the launcher's cannot tell how long ago that was.
  const std::int64_t since = std::max<std::int64_t>(0, host_ns(CLOCK_REALTIME) - ns_of(found.moment, CLOCK_REALTIME));
  const auto ahead = [](std::int64_t launchers_then, std::int64_t passed, std::int64_t now, std::int64_t second) {
    const std::int64_t difference = launchers_then + passed - now;
    return launchers_then == 0 || std::llabs(difference) < second ? 0 : difference;  // the time between two readings
  };
  for (const clockid_t clock : clocks_since_start)
    found.ahead[static_cast<std::size_t>(clock)] = ahead(ns_of(found.moment, clock), since, host_ns(clock), billion);
  const std::int64_t in_second = sysconf(_SC_CLK_TCK);
  tms used{};
  found.ticks_ahead = ahead(found.moment.ticks, since / (billion / in_second), real_times(&used), in_second);
  return found;
}

const Epoch& epoch() {
  static const Epoch found = find_epoch();
  return found;
}

Standing& standing() {
  static Standing clocks{epoch().moment, epoch().moment};  // until stand_at()
  return clocks;
}

/// Whether the caller is the C++ standard library; std::chrono's clocks are functions of it.
bool is_cplusplus_library(const void* caller) {
  Dl_info where{};
  return caller && dladdr(caller, &where) != 0 && where.dli_fname && std::strstr(where.dli_fname, "/libstdc++.so");
}

bool time_stands(const void* caller) {
  const Phase now = phase.load(std::memory_order_relaxed);
  if (now == Phase::in_mpi) return false;
  return program_asks() || (now == Phase::before_init && program_is_loaded() && is_cplusplus_library(caller));
}

/// The time of day is told wherever anything is.
bool is_told(clockid_t clock) {
  return ns_of(standing().shown, is_since_start(clock) ? clock : CLOCK_REALTIME) != 0;
}

bool stands(clockid_t clock, const void* caller) {
  return (clock == CLOCK_REALTIME || is_since_start(clock) || is_processor_time(clock)) && time_stands(caller) &&
         is_told(clock);
}

/// Processor time that has passed since they stand: none at first, then a microsecond a reading, as for a program that
/// measures the clock's tick, and more and more, for one that works until it has used so much.
std::int64_t used_while_standing_ns() {
  const std::int64_t beyond = std::max<std::int64_t>(0, standing().processor_readings - short_patience);
  return 1000 * beyond + std::min(beyond, std::int64_t{1'000'000}) * beyond / 2;
}

/// What that clock shows while time stands.
std::int64_t shown_now(clockid_t clock) {
  Standing& now = standing();
  const std::int64_t shown = ns_of(now.shown, clock);
  if (is_processor_time(clock)) return shown + used_while_standing_ns();
  if (clock == CLOCK_REALTIME)
    return shown + now.waited + 1000 * std::max<std::int64_t>(0, now.real_readings - patience);
  if (now.since_start_readings <= short_patience) return shown + now.waited;
  return shown + host_ns(clock) + ahead_of_host(clock) - ns_of(now.origin, clock);
}

timeval add_ns(const timeval& time, std::int64_t nanoseconds) {
  const std::int64_t microseconds = nanoseconds / 1000;
  const timeval passed = {microseconds / 1'000'000, microseconds % 1'000'000};
  timeval sum{};
  timeradd(&time, &passed, &sum);
  return sum;
}

/// Whether processor times that are no clock of POSIX's stand; counts the reading.
bool processor_time_stands() {
  if (!stands(CLOCK_PROCESS_CPUTIME_ID, nullptr)) return false;
  ++standing().processor_readings;
  return true;
}

/// What was told before MPI_Init may be ahead of this process's processor time and of this host's time of day, which
/// then go on from there: no clock goes back.
void go_on_from_what_was_shown() {
  Standing& read = standing();
  if (read.processor_readings > 0)
    read.processor_ahead = std::max<std::int64_t>(0, used_while_standing_ns() - host_ns(CLOCK_THREAD_CPUTIME_ID));
  if (read.real_readings > 0)
    read.day_ahead = std::max<std::int64_t>(0, shown_now(CLOCK_REALTIME) - host_ns(CLOCK_REALTIME));
}

}  // namespace

Moment this_moment() {
  Moment now;
  for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_BOOTTIME,
                                CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID})
    ns_of(now, clock) = host_ns(clock) + ahead_of_host(clock);
  clock_t ticks = real_times(&now.used_ticks);
  (void)standing_process_times(ticks, now.used_ticks);
  clock_t used = real_clock();
  (void)standing_processor_time(used);
  now.ticks = ticks;
  now.used = used;
  for (const int who : {RUSAGE_CHILDREN, RUSAGE_SELF, RUSAGE_THREAD}) {
    real_getrusage(who, now.usage_of(who));
    (void)standing_usage(who, *now.usage_of(who));
  }
  return now;
}

void stand_at(const Moment& moment) {
  Standing& clocks = standing();
  clocks.origin = this_moment();
  clocks.shown = moment;
  clocks.real_readings = clocks.since_start_readings = clocks.processor_readings = clocks.waited = 0;
  phase.store(Phase::after_finalize, std::memory_order_relaxed);
}

bool standing_time(clockid_t clock, timespec& time, const void* caller) {
  clock = finest(clock);
  if (!stands(clock, caller)) return false;
  Standing& read = standing();
  ++(clock == CLOCK_REALTIME    ? read.real_readings
     : is_processor_time(clock) ? read.processor_readings
                                : read.since_start_readings);
  const std::int64_t now = shown_now(clock);
  time = {static_cast<time_t>(now / billion), static_cast<long>(now % billion)};
  return true;
}

bool standing_usage(int who, rusage& usage) {
  const bool stand = processor_time_stands();
  const rusage* const shown = standing().shown.usage_of(who);
  if (stand && shown) usage = *shown;
  const std::int64_t ahead =
      stand ? used_while_standing_ns() : standing().processor_ahead.load(std::memory_order_relaxed);
  if (shown && who != RUSAGE_CHILDREN) usage.ru_utime = add_ns(usage.ru_utime, ahead);
  return stand && shown;
}

bool standing_processor_time(clock_t& used) {
  const bool stand = processor_time_stands();
  if (stand) used = standing().shown.used;
  used += (stand ? used_while_standing_ns() : standing().processor_ahead.load(std::memory_order_relaxed)) /
          (billion / CLOCKS_PER_SEC);
  return stand;
}

bool standing_process_times(clock_t& now, tms& used) {
  const std::int64_t tick_ns = billion / sysconf(_SC_CLK_TCK);
  if (standing().shown.ticks == 0 || !processor_time_stands()) {
    now += phase.load(std::memory_order_relaxed) == Phase::in_mpi ? epoch().ticks_ahead : 0;
    const std::int64_t ahead = standing().processor_ahead.load(std::memory_order_relaxed);
    used.tms_utime += ahead == 0 ? 0 : ahead / tick_ns + 2;  // three times rounded down add up to two ticks less
    return false;
  }
  Standing& read = standing();
  const clock_t passed = now + epoch().ticks_ahead - read.origin.ticks;
  now = read.shown.ticks + (++read.since_start_readings > short_patience ? passed : read.waited / tick_ns);
  used = read.shown.used_ticks;
  used.tms_utime += used_while_standing_ns() / tick_ns;
  return true;
}

bool program_stands() {
  return phase.load(std::memory_order_relaxed) != Phase::in_mpi && stands(CLOCK_REALTIME, nullptr);
}

timespec file_time_before_init(const timespec& time) {
  if (init_has_been_called() || !stands(CLOCK_REALTIME, nullptr)) return time;
  const std::int64_t start = ns_of(standing().shown, CLOCK_REALTIME);
  if (time.tv_sec < start / billion) return time;
  return {static_cast<time_t>(start / billion),
          time.tv_sec == start / billion ? std::min<long>(time.tv_nsec, start % billion) : start % billion};
}

bool is_since_start(const timespec& time) {
  return time::in_ns(time) >= ns_of(standing().shown, CLOCK_REALTIME);
}

std::int64_t standing_ahead(clockid_t clock) {
  clock = finest(clock);
  return stands(clock, nullptr) ? shown_now(clock) - host_ns(clock) : 0;
}

void waited_while_standing(clockid_t clock, const timespec& until) {
  if (standing_ahead(clock) == 0) return;
  standing().waited += std::max<std::int64_t>(0, time::in_ns(until) - shown_now(finest(clock)));
}

void slept_while_standing(long long nanoseconds) {
  if (nanoseconds > 0 && time_stands(nullptr)) standing().waited += nanoseconds;
}

std::int64_t ahead_of_host(clockid_t clock) {
  clock = finest(clock);
  if (is_processor_time(clock)) return standing().processor_ahead.load(std::memory_order_relaxed);
  if (clock == CLOCK_REALTIME) return standing().day_ahead.load(std::memory_order_relaxed);
  return is_since_start(clock) ? epoch().ahead[static_cast<std::size_t>(clock)] : 0;
}

void init_was_called() {
  if (!init_has_been_called()) go_on_from_what_was_shown();
  Phase before = Phase::before_init;
  phase.compare_exchange_strong(before, Phase::in_mpi, std::memory_order_relaxed);
}

bool init_has_been_called() {
  return phase.load(std::memory_order_relaxed) != Phase::before_init;
}

}  // namespace holdfast::replicate
