#pragma once

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include <cstdint>

namespace holdfast::replicate {

/// The C library's own clocks, whatever the application is told. Any thread.
int real_clock_gettime(clockid_t clock, timespec* time);
int real_gettimeofday(timeval* time, void* zone);
time_t real_time(time_t* time);
int real_getrusage(int who, rusage* usage);
clock_t real_clock();
clock_t real_times(tms* times);

/// CLOCK_MONOTONIC of this host, whatever the application is told.
std::int64_t monotonic_now_ns();

}  // namespace holdfast::replicate
