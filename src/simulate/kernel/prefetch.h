#pragma once

namespace holdfast::simulate {

/// Asks the memory for the cache line that holds this address, to be written soon. The empty statement keeps GCC 12
/// from taking a function of prefetches alone for one without effect and dropping its calls.
[[gnu::always_inline]] inline void prefetch_line(const void* address) {
  __builtin_prefetch(address, 1);
  asm volatile("");
}

}  // namespace holdfast::simulate
