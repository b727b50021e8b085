#include "replicate/process/real_clock.h"

#include <dlfcn.h>

#include "core/time/nanoseconds.h"

namespace holdfast::replicate {

namespace {

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

struct RealClocks {
  int (*clock_gettime)(clockid_t, timespec*) = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  int (*gettimeofday)(timeval*, void*) = next<int (*)(timeval*, void*)>("gettimeofday");
  time_t (*time)(time_t*) = next<time_t (*)(time_t*)>("time");
  int (*getrusage)(int, rusage*) = next<int (*)(int, rusage*)>("getrusage");
  clock_t (*clock)() = next<clock_t (*)()>("clock");
  clock_t (*times)(tms*) = next<clock_t (*)(tms*)>("times");
};

const RealClocks& real_clocks() {
  static const RealClocks all;
  return all;
}

}  // namespace

int real_clock_gettime(clockid_t clock, timespec* time) {
  return real_clocks().clock_gettime(clock, time);
}

int real_gettimeofday(timeval* time, void* zone) {
  return real_clocks().gettimeofday(time, zone);
}

time_t real_time(time_t* time) {
  return real_clocks().time(time);
}

int real_getrusage(int who, rusage* usage) {
  return real_clocks().getrusage(who, usage);
}

clock_t real_clock() {
  return real_clocks().clock();
}

clock_t real_times(tms* times) {
  return real_clocks().times(times);
}

std::int64_t monotonic_now_ns() {
  timespec now{};
  real_clock_gettime(CLOCK_MONOTONIC, &now);
  return time::in_ns(now);
}

}  // namespace holdfast::replicate
