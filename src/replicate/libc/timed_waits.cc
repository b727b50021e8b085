// Waits until a moment that a program reckoned from what it was told to be the time: they go by this host's clock, so
// the moment is moved by what the two differ. Only for the thread whose readings are agreed on. And waits for a while,
// by which the clocks go on that stand before MPI_Init and after MPI_Finalize.
//
// A sleep is over at once where the leader has slept and gone on (repeats_leader()): a follower that repeats its polls,
// with a sleep after each, would stay behind for ever, and every answer that others wait for would come so much later.
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <limits>

#include "core/arithmetic/checked.h"
#include "core/arithmetic/totals.h"
#include "core/time/nanoseconds.h"
#include "replicate/libc/clocks.h"
#include "replicate/mpi/agree/decide.h"
#include "replicate/process/standing_clocks.h"

namespace holdfast::replicate {

namespace {

constexpr long long one_second_ns = 1'000'000'000;

/// Calls `wait` with the deadline as this host's clock has it; `timed_out`: what it answers when that has come.
template <class Wait>
int wait_by_clock(clockid_t clock, const timespec& deadline, int timed_out, Wait wait) {
  const std::int64_t ahead = seen_ahead(clock);
  if (ahead == 0 || deadline.tv_sec < 0 || deadline.tv_nsec < 0 || deadline.tv_nsec >= one_second_ns)
    return wait(deadline);
  const std::int64_t own = arithmetic::checked_subtract(time::in_ns(deadline), ahead)
                               .value_or(std::numeric_limits<std::int64_t>::max());  // for ever
  if (own < 0) return wait(deadline);
  const int code = wait({static_cast<time_t>(own / one_second_ns), static_cast<long>(own % one_second_ns)});
  if (code == timed_out || (code == -1 && errno == timed_out)) waited_while_standing(clock, deadline);
  return code;
}

/// The C library keeps the clock of a condition variable in the second bit of this word.
clockid_t clock_of(const pthread_cond_t& condition) {
  return (condition.__data.__wrefs & 2U) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

/// Of a limit of select(2), which takes a second and more of microseconds and refuses numbers below 0.
std::int64_t in_ns(const timeval& limit) {
  return arithmetic::add_or_most(time::in_ns({limit.tv_sec, 0}),
                                 time::in_ns({limit.tv_usec / 1'000'000, limit.tv_usec % 1'000'000 * 1000}));
}

/// Whether a sleep of the program's is over at once. A program that waits for something else than its replica's leader
/// has seen, a file perhaps, gives the core away at least.
bool leader_has_slept() {
  if (!repeats_leader()) return false;
  ::sched_yield();
  return true;
}

/// What a wait for a while answers: `whole` where all of it has passed.
template <class Code>
Code slept(long long nanoseconds, Code whole, Code code) {
  if (code == whole) slept_while_standing(nanoseconds);
  return code;
}

template <class Function>
Function* real_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

}  // namespace holdfast::replicate

namespace hr = holdfast::replicate;

extern "C" {

[[gnu::visibility("default")]] int pthread_cond_timedwait(pthread_cond_t* __restrict condition,
                                                          pthread_mutex_t* __restrict mutex,
                                                          const timespec* __restrict deadline) {
  static const auto real = hr::real_function<decltype(pthread_cond_timedwait)>("pthread_cond_timedwait");
  return hr::wait_by_clock(hr::clock_of(*condition), *deadline, ETIMEDOUT,
                           [=](const timespec& until) { return real(condition, mutex, &until); });
}

[[gnu::visibility("default")]] int pthread_cond_clockwait(pthread_cond_t* __restrict condition,
                                                          pthread_mutex_t* __restrict mutex, clockid_t clock,
                                                          const timespec* __restrict deadline) {
  static const auto real = hr::real_function<decltype(pthread_cond_clockwait)>("pthread_cond_clockwait");
  return hr::wait_by_clock(clock, *deadline, ETIMEDOUT,
                           [=](const timespec& until) { return real(condition, mutex, clock, &until); });
}

[[gnu::visibility("default")]] int sem_timedwait(sem_t* __restrict semaphore, const timespec* __restrict deadline) {
  static const auto real = hr::real_function<decltype(sem_timedwait)>("sem_timedwait");
  return hr::wait_by_clock(CLOCK_REALTIME, *deadline, ETIMEDOUT,
                           [=](const timespec& until) { return real(semaphore, &until); });
}

[[gnu::visibility("default")]] int sem_clockwait(sem_t* __restrict semaphore, clockid_t clock,
                                                 const timespec* __restrict deadline) {
  static const auto real = hr::real_function<decltype(sem_clockwait)>("sem_clockwait");
  return hr::wait_by_clock(clock, *deadline, ETIMEDOUT,
                           [=](const timespec& until) { return real(semaphore, clock, &until); });
}

[[gnu::visibility("default")]] int pthread_mutex_timedlock(pthread_mutex_t* __restrict mutex,
                                                           const timespec* __restrict deadline) noexcept {
  static const auto real = hr::real_function<decltype(pthread_mutex_timedlock)>("pthread_mutex_timedlock");
  return hr::wait_by_clock(CLOCK_REALTIME, *deadline, ETIMEDOUT,
                           [=](const timespec& until) { return real(mutex, &until); });
}

[[gnu::visibility("default")]] int pthread_mutex_clocklock(pthread_mutex_t* __restrict mutex, clockid_t clock,
                                                           const timespec* __restrict deadline) noexcept {
  static const auto real = hr::real_function<decltype(pthread_mutex_clocklock)>("pthread_mutex_clocklock");
  return hr::wait_by_clock(clock, *deadline, ETIMEDOUT,
                           [=](const timespec& until) { return real(mutex, clock, &until); });
}

[[gnu::visibility("default")]] int pthread_rwlock_timedrdlock(pthread_rwlock_t* __restrict lock,
                                                              const timespec* __restrict deadline) noexcept {
  static const auto real = hr::real_function<decltype(pthread_rwlock_timedrdlock)>("pthread_rwlock_timedrdlock");
  return hr::wait_by_clock(CLOCK_REALTIME, *deadline, ETIMEDOUT,
                           [=](const timespec& until) { return real(lock, &until); });
}

[[gnu::visibility("default")]] int pthread_rwlock_clockrdlock(pthread_rwlock_t* __restrict lock, clockid_t clock,
                                                              const timespec* __restrict deadline) noexcept {
  static const auto real = hr::real_function<decltype(pthread_rwlock_clockrdlock)>("pthread_rwlock_clockrdlock");
  return hr::wait_by_clock(clock, *deadline, ETIMEDOUT,
                           [=](const timespec& until) { return real(lock, clock, &until); });
}

[[gnu::visibility("default")]] int pthread_rwlock_timedwrlock(pthread_rwlock_t* __restrict lock,
                                                              const timespec* __restrict deadline) noexcept {
  static const auto real = hr::real_function<decltype(pthread_rwlock_timedwrlock)>("pthread_rwlock_timedwrlock");
  return hr::wait_by_clock(CLOCK_REALTIME, *deadline, ETIMEDOUT,
                           [=](const timespec& until) { return real(lock, &until); });
}

[[gnu::visibility("default")]] int pthread_rwlock_clockwrlock(pthread_rwlock_t* __restrict lock, clockid_t clock,
                                                              const timespec* __restrict deadline) noexcept {
  static const auto real = hr::real_function<decltype(pthread_rwlock_clockwrlock)>("pthread_rwlock_clockwrlock");
  return hr::wait_by_clock(clock, *deadline, ETIMEDOUT,
                           [=](const timespec& until) { return real(lock, clock, &until); });
}

[[gnu::visibility("default")]] int mtx_timedlock(mtx_t* __restrict mutex, const timespec* __restrict deadline) {
  static const auto real = hr::real_function<decltype(mtx_timedlock)>("mtx_timedlock");
  return hr::wait_by_clock(CLOCK_REALTIME, *deadline, thrd_timedout,
                           [=](const timespec& until) { return real(mutex, &until); });
}

[[gnu::visibility("default")]] int cnd_timedwait(cnd_t* __restrict condition, mtx_t* __restrict mutex,
                                                 const timespec* __restrict deadline) {
  static const auto real = hr::real_function<decltype(cnd_timedwait)>("cnd_timedwait");
  return hr::wait_by_clock(CLOCK_REALTIME, *deadline, thrd_timedout,
                           [=](const timespec& until) { return real(condition, mutex, &until); });
}

[[gnu::visibility("default")]] int clock_nanosleep(clockid_t clock, int flags, const timespec* request,
                                                   timespec* remain) {
  static const auto real = hr::real_function<decltype(clock_nanosleep)>("clock_nanosleep");
  if (hr::leader_has_slept()) return 0;
  if ((flags & TIMER_ABSTIME) == 0) {
    const long long asked = holdfast::time::in_ns(*request);
    return hr::slept(asked, 0, real(clock, flags, request, remain));
  }
  return hr::wait_by_clock(clock, *request, 0,
                           [=](const timespec& until) { return real(clock, flags, &until, remain); });
}

[[gnu::visibility("default")]] int nanosleep(const timespec* request, timespec* remain) {
  static const auto real = hr::real_function<decltype(nanosleep)>("nanosleep");
  if (hr::leader_has_slept()) return 0;
  const long long asked = holdfast::time::in_ns(*request);  // `remain` may be the same object
  return hr::slept(asked, 0, real(request, remain));
}

[[gnu::visibility("default")]] int thrd_sleep(const timespec* request, timespec* remain) {
  static const auto real = hr::real_function<decltype(thrd_sleep)>("thrd_sleep");
  if (hr::leader_has_slept()) return 0;
  const long long asked = holdfast::time::in_ns(*request);
  return hr::slept(asked, 0, real(request, remain));
}

[[gnu::visibility("default")]] unsigned int sleep(unsigned int seconds) {
  static const auto real = hr::real_function<decltype(sleep)>("sleep");
  if (hr::leader_has_slept()) return 0;
  return hr::slept(seconds * hr::one_second_ns, 0U, real(seconds));
}

[[gnu::visibility("default")]] int usleep(useconds_t microseconds) {
  static const auto real = hr::real_function<decltype(usleep)>("usleep");
  if (hr::leader_has_slept()) return 0;
  return hr::slept(microseconds * 1000LL, 0, real(microseconds));
}

[[gnu::visibility("default")]] int poll(pollfd* files, nfds_t count, int milliseconds) {
  static const auto real = hr::real_function<decltype(poll)>("poll");
  return hr::slept(milliseconds * 1'000'000LL, 0, real(files, count, milliseconds));
}

[[gnu::visibility("default")]] int ppoll(pollfd* files, nfds_t count, const timespec* limit, const sigset_t* mask) {
  static const auto real = hr::real_function<decltype(ppoll)>("ppoll");
  return hr::slept(limit ? holdfast::time::in_ns(*limit) : 0, 0, real(files, count, limit, mask));
}

[[gnu::visibility("default")]] int select(int count, fd_set* __restrict reads, fd_set* __restrict writes,
                                          fd_set* __restrict exceptions, timeval* __restrict limit) {
  static const auto real = hr::real_function<decltype(select)>("select");
  const long long asked = limit ? hr::in_ns(*limit) : 0;  // Linux counts it down
  return hr::slept(asked, 0, real(count, reads, writes, exceptions, limit));
}

[[gnu::visibility("default")]] int pselect(int count, fd_set* __restrict reads, fd_set* __restrict writes,
                                           fd_set* __restrict exceptions, const timespec* __restrict limit,
                                           const sigset_t* __restrict mask) {
  static const auto real = hr::real_function<decltype(pselect)>("pselect");
  return hr::slept(limit ? holdfast::time::in_ns(*limit) : 0, 0, real(count, reads, writes, exceptions, limit, mask));
}

}  // extern "C"
