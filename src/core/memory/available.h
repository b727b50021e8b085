#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status/status.h"

namespace holdfast::memory {

/// Bytes that this process can still get: the least of what the machine has available (MemAvailable of /proc/meminfo),
/// what its control groups leave (memory.max less memory.current, also of the groups above; version 1's likewise) and
/// what RLIMIT_AS and RLIMIT_DATA leave. 2^64 - 1 where nothing says. It reads files: ask once a command, not in a
/// loop. Any thread.
std::uint64_t available_bytes();

/// available_bytes() of files below `root` ("" on a real machine) and of no limits of the process; for tests.
std::uint64_t available_bytes_below(const std::string& root);

/// Ok when `estimate` bytes can be had, with a sixteenth kept free. Error (bad_input): "doing: it needs about 32 GB of
/// memory, and 22 GB are available: remedy". The estimate of a product that 64 bits cannot hold is 2^64 - 1.
Status check_estimate(std::string_view doing, std::uint64_t estimate, std::string_view remedy);
Status check_estimate(std::string_view doing, std::uint64_t estimate, std::string_view remedy, std::uint64_t available);

/// "640 bytes", "1.5 kB", "32 GB": at most three digits, powers of 1000.
std::string in_words(std::uint64_t bytes);

/// a * b and a + b for estimates: 2^64 - 1 when they are more.
std::uint64_t estimate_product(std::uint64_t a, std::uint64_t b);
std::uint64_t estimate_sum(std::uint64_t a, std::uint64_t b);

}  // namespace holdfast::memory
