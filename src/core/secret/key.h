#pragma once

#include <array>
#include <cstddef>

/// What the processes of a job share and nobody else knows, and what is made from it.
namespace holdfast::secret {

/// 256 bits. A copy on the stack or the heap is not wiped: who reads a process's memory reads its messages as well.
using Key = std::array<std::byte, 32>;

}  // namespace holdfast::secret
