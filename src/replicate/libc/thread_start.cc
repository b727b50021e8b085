// How threads begin: those that MPI starts for itself are none of the program's, and those of the program get names on
// which replicas agree, where their calls go in one order (mpi/agree/thread_order.h).
#include <pthread.h>
#include <threads.h>

#include "replicate/libc/files.h"
#include "replicate/mpi/agree/thread_name.h"
#include "replicate/mpi/intercept/guard.h"

namespace holdfast::replicate {

namespace {

/// What a thread is started with. `Result`: what its function returns.
template <class Result>
struct Start {
  Result (*function)(void*);
  void* argument;
  std::uint64_t name;  ///< 0: it is none of the program's
};

/// Runs outside ThreadSanitizer's own start function, so that in its builds nothing here may be seen by it.
template <class Result>
[[gnu::no_sanitize("thread")]] Result run(void* given) {
  const Start<Result> start = *static_cast<Start<Result>*>(given);
#ifndef __SANITIZE_THREAD__
  delete static_cast<Start<Result>*>(given);
#endif
  if (start.name == 0) {
    depth = 1;
  } else {
    own_thread.name = start.name;
  }
  return start.function(start.argument);
}

/// `create(function, argument)` starts the thread by the C library and says whether it did.
template <class Result, class Create>
bool start_thread(Result (*function)(void*), void* argument, Create create) {
  if (depth == 0 && !threads_are_named()) return create(function, argument);
  const std::uint64_t name = depth == 0 ? thread_name().next() : 0;
  if (depth == 0 && name == 0) return create(function, argument);  // the creator has none itself
  auto* start = new Start<Result>{function, argument, name};
  const bool started = create(run<Result>, start);
  if (!started) delete start;
  if (started && name != 0) ++thread_name().created;
  return started;
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] int pthread_create(pthread_t* __restrict thread,
                                                  const pthread_attr_t* __restrict attributes, void* (*function)(void*),
                                                  void* __restrict argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = hr::next_function<Create>("pthread_create");
  int code = 0;
  hr::start_thread(function, argument,
                   [&](void* (*run)(void*), void* with) { return (code = real(thread, attributes, run, with)) == 0; });
  return code;
}

/// glibc's own makes the thread without pthread_create().
[[gnu::visibility("default")]] int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) noexcept {
  static const auto real = hr::next_function<int (*)(thrd_t*, thrd_start_t, void*)>("thrd_create");
  int code = thrd_success;
  hr::start_thread(function, argument,
                   [&](thrd_start_t run, void* with) { return (code = real(thread, run, with)) == thrd_success; });
  return code;
}

}  // extern "C"
