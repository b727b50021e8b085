#pragma once

#include <cstdint>

namespace holdfast::replicate {

/// What a thread of the program is called, alike in all replicas whatever the operating system numbers it: made of the
/// name of the thread that created it and of how many that one had created before. The first thread's is fixed.
struct ThreadName {
  std::uint64_t name = 0;     ///< 0: none
  std::uint64_t created = 0;  ///< threads with names
  /// That of the thread that this one creates next; 0 where it has none itself.
  std::uint64_t next() const;
};

/// Whether threads get names: replicate.same_thread_order. Asked before MPI_Init, too.
bool threads_are_named();

[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadName own_thread;

/// The calling thread's; the first thread has its own from here on.
ThreadName& thread_name();

}  // namespace holdfast::replicate
