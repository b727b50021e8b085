#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace holdfast::integrity {

/// crc32c_extend() in plain C++: slicing by 8 (M. Kounavis, F. Berry, "Novel Table Lookup-Based Algorithms for
/// High-Performance CRC Generation", IEEE Transactions on Computers 57(11), 2008). Any machine, any byte order.
std::uint32_t crc32c_portable(std::uint32_t crc, std::span<const std::byte> bytes);

}  // namespace holdfast::integrity
