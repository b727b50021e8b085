#pragma once

#include <cstdint>

/// The C library's own clocks: with replicas, clock_gettime() of the process is the replication library's.
namespace holdfast::record {

/// CLOCK_MONOTONIC. Any thread.
std::int64_t wall_now_ns();
/// CLOCK_THREAD_CPUTIME_ID of the calling thread.
std::int64_t thread_cpu_now_ns();
/// CLOCK_REALTIME.
std::int64_t date_now_ns();
/// What reading the thread's clock costs here: a system call, which takes 0.2 us on some machines and 2 us on others.
std::int64_t cost_of_thread_clock_ns();

}  // namespace holdfast::record
