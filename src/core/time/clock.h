#pragma once

#include <cstdint>

namespace holdfast::time {

/// A reader of some clock: nanoseconds since a fixed moment, never going back. Engines do not take one: they take
/// `now_ns` as an argument. Drivers (a process, a simulator) own the reader and call it once a batch.
using NowFunction = std::int64_t (*)();

/// The machine's CLOCK_MONOTONIC in nanoseconds. Comparable between the processes of one host only. Any thread.
/// It calls clock_gettime() by its name: a library that interposes that function must read its own real one instead.
std::int64_t steady_now_ns();

}  // namespace holdfast::time
