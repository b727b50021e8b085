#pragma once

#include <cstdint>

#include "core/status/status.h"

namespace holdfast::launch {

/// What the smallest MPI process takes for itself under either MPI, with its launcher's share.
inline constexpr std::uint64_t least_process_bytes = 4'000'000;

/// Whether this host could hold so many processes at all, before thousands are started: by the process numbers that the
/// kernel has (`most_processes`) and by `available` bytes of memory. Ok for what runs on several hosts. Error:
/// bad_input.
Status check_capacity(std::uint64_t processes, bool one_host);
Status check_capacity(std::uint64_t processes, std::uint64_t most_processes, std::uint64_t available);

}  // namespace holdfast::launch
