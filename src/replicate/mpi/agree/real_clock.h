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

/// True when the calling thread's clock readings are to be agreed on: it is the thread that called MPI_Init, it is
/// outside MPI, and replication is active.
bool agreed_clocks();
/// Whether it is the thread that called MPI_Init.
bool agreeing_thread();
/// Makes the calling thread the one whose readings are agreed on.
void agree_on_this_thread();

}  // namespace holdfast::replicate
