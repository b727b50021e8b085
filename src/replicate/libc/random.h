#pragma once

#include <cstddef>
#include <optional>

namespace holdfast::replicate {

/// How much one opening of the operating system's random device gives under replication, in bytes; then it ends.
inline constexpr std::size_t random_device_bytes = std::size_t{256} * 1024;

/// What open(2) with these flags answers to the program for /dev/urandom and /dev/random: a descriptor, which the
/// caller owns, of a file in memory with numbers of the team's stream, other ones at each opening and the same ones in
/// all replicas; or -1 with errno. Nothing where the path is another one, is opened to write, or is not asked for by
/// the program on its first thread (program_asks()), and then the device itself is meant.
///
/// The same for the kernel's random UUID (/proc/sys/kernel/random/uuid), of version 4 (RFC 4122, 4.4).
///
/// A file and not a pipe: read(2), fread(3) and std::ifstream all find it, and no read comes back short.
std::optional<int> open_random_device(const char* path, int flags);

}  // namespace holdfast::replicate
