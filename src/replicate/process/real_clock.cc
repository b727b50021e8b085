#include "replicate/process/real_clock.h"

#include <dlfcn.h>

namespace holdfast::replicate {

namespace {

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

int real_clock_gettime(clockid_t clock, timespec* time) {
  static const auto function = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  return function(clock, time);
}

int real_gettimeofday(timeval* time, void* zone) {
  static const auto function = next<int (*)(timeval*, void*)>("gettimeofday");
  return function(time, zone);
}

time_t real_time(time_t* time) {
  static const auto function = next<time_t (*)(time_t*)>("time");
  return function(time);
}

int real_getrusage(int who, rusage* usage) {
  static const auto function = next<int (*)(int, rusage*)>("getrusage");
  return function(who, usage);
}

clock_t real_clock() {
  static const auto function = next<clock_t (*)()>("clock");
  return function();
}

clock_t real_times(tms* times) {
  static const auto function = next<clock_t (*)(tms*)>("times");
  return function(times);
}

std::int64_t monotonic_now_ns() {
  timespec now{};
  real_clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace holdfast::replicate
