#include "replicate/process/program_signals.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>

#include "replicate/process/depth.h"

namespace holdfast::replicate {

namespace {

/// A handler of the program's.
struct Handler {
  struct sigaction action;  ///< as the program gave it
  bool set;                 ///< the program has one
  timer_t patience;
  siginfo_t info;                   ///< of the signal that waits
  std::atomic<bool> timed;          ///< `patience` is there
  std::atomic<bool> waits;          ///< the signal has come
  std::atomic<bool> taken;          ///< it has, and its handler is called at the end of the present call
  std::atomic<bool> called_early;   ///< the leader's came first, so that the next one here is that one
  std::atomic<std::uint8_t> calls;  ///< that were put off, modulo 8
};

struct ProgramSignals {
  Handler of[NSIG];
  std::atomic<bool> put_off;
  std::atomic<bool> any_waits;  ///< perhaps
  std::atomic<SetAction> librarys_sigaction;
  std::atomic<SetSignalHandler> librarys_signal;
  std::atomic<SetSignalHandler> librarys_sysv_signal;
};
constinit ProgramSignals signals{};

constexpr int put_off_long[] = {SIGUSR1, SIGUSR2, SIGALRM};
constexpr int put_off_shortly[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU};  // launchers kill a second later
constexpr int number_bits = 5;  // of what the leader says of a signal; the others count the handler's calls
static_assert(std::max({SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU}) < 1 << number_bits);
constexpr timespec programs_patience{10, 0};
constexpr timespec launchers_patience{0, 500'000'000};

bool is_among(const int* first, const int* last, int number) {
  while (first != last && *first != number) ++first;
  return first != last;
}

bool has_short_patience(int number) {
  return is_among(std::begin(put_off_shortly), std::end(put_off_shortly), number);
}

/// The program has no handler any more.
void forget(Handler& handler) {
  handler.set = false;
  handler.waits.store(false);
  handler.taken.store(false);
  handler.called_early.store(false);
}

void call_handler(int number, siginfo_t* info, void* context) {
  Handler& handler = signals.of[number];
  const struct sigaction action = handler.action;
  if (!handler.set) return;
  if ((action.sa_flags & SA_RESETHAND) && !handler.called_early.load()) {  // else the signal is still to come
    struct sigaction none {};
    none.sa_handler = SIG_DFL;
    (void)librarys_own().sigaction(number, &none, nullptr);
    forget(handler);
  }
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(number, info, context);
  else
    action.sa_handler(number);
}

std::uint8_t next_call(const Handler& handler) {
  return static_cast<std::uint8_t>((handler.calls.load() + 1) % 8);
}

void arm_patience(int number, const timespec& patience) {
  const itimerspec when{{0, 0}, patience};
  (void)::timer_settime(signals.of[number].patience, 0, &when, nullptr);
}

/// By kill() or raise(): all replicas do so at the same point, and it comes before those return.
bool is_sent_by_itself(const siginfo_t& info) {
  const bool sent = info.si_code == SI_USER || info.si_code == SI_TKILL || info.si_code == SI_QUEUE;
  return sent && info.si_pid == static_cast<pid_t>(::syscall(SYS_getpid));
}

/// What the kernel calls. Nothing here but what is safe in a handler (POSIX, 2.4.3).
void on_signal(int number, siginfo_t* info, void* context) {
  const int before = errno;
  Handler& handler = signals.of[number];
  if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &handler) {
    if (handler.waits.exchange(false)) {
      handler.calls.store(next_call(handler));
      call_handler(number, &handler.info, context);
    }
  } else if (!signals.put_off.load() || !handler.timed.load() || is_sent_by_itself(*info)) {
    call_handler(number, info, context);
  } else if (!handler.called_early.exchange(false) && !handler.waits.load()) {
    handler.info = *info;
    handler.waits.store(true);
    signals.any_waits.store(true);
    arm_patience(number, has_short_patience(number) ? launchers_patience : programs_patience);
  }
  errno = before;
}

/// Timers are not made in handlers, and not inherited by children.
void begin_to_put_off(int number) {
  signals.of[number].calls.store(0);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = number;
  event.sigev_value.sival_ptr = &signals.of[number];
  signals.of[number].timed.store(::timer_create(CLOCK_MONOTONIC, &event, &signals.of[number].patience) == 0);
}

}  // namespace

bool is_put_off(int number) {
  return is_among(std::begin(put_off_long), std::end(put_off_long), number) || has_short_patience(number);
}

LibrarysOwn librarys_own() noexcept {
  if (!signals.librarys_sigaction.load()) {
    signals.librarys_sysv_signal.store(reinterpret_cast<SetSignalHandler>(::dlsym(RTLD_NEXT, "__sysv_signal")));
    signals.librarys_signal.store(reinterpret_cast<SetSignalHandler>(::dlsym(RTLD_NEXT, "signal")));
    signals.librarys_sigaction.store(reinterpret_cast<SetAction>(::dlsym(RTLD_NEXT, "sigaction")));
  }
  return {signals.librarys_sigaction.load(), signals.librarys_signal.load(), signals.librarys_sysv_signal.load()};
}

int set_program_action(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  Handler& handler = signals.of[number];
  const Handler* const known = handler.set ? &handler : nullptr;
  const struct sigaction own = handler.action;
  const SetAction set = librarys_own().sigaction;
  int code = 0;
  if (!action) {
    code = set(number, nullptr, before);
  } else if (action->sa_handler == SIG_DFL || action->sa_handler == SIG_IGN) {
    code = set(number, action, before);
    if (code == 0) forget(handler);
  } else {
    struct sigaction ours = *action;
    ours.sa_sigaction = on_signal;
    ours.sa_flags = (action->sa_flags & ~SA_RESETHAND) | SA_SIGINFO;
    handler.action = *action;
    handler.set = true;
    code = set(number, &ours, before);
  }
  if (code == 0 && before && known) *before = own;
  return code;
}

void put_off_signals(bool put_off) {
  if (put_off) {
    for (const int number : put_off_long) begin_to_put_off(number);
    for (const int number : put_off_shortly) begin_to_put_off(number);
  }
  signals.put_off.store(put_off);
}

std::uint8_t take_waiting_signal() {
  if (!signals.any_waits.load(std::memory_order_relaxed)) return 0;
  signals.any_waits.store(false);
  for (int number = 1; number < NSIG; ++number) {
    Handler& handler = signals.of[number];
    if (!handler.waits.exchange(false)) continue;
    handler.taken.store(true);
    arm_patience(number, {});
    signals.any_waits.store(true);  // another may
    return static_cast<std::uint8_t>(next_call(handler) << number_bits | number);
  }
  return 0;
}

void call_handler_after_call(std::uint8_t named) {
  CallsHandlers::due = named;
}

void end_call() {
  if (depth > 0) return;
  const int number = CallsHandlers::due & ((1 << number_bits) - 1);
  const int leaders_call = CallsHandlers::due >> number_bits;
  CallsHandlers::due = 0;
  Handler& handler = signals.of[number];
  if (!handler.set || handler.calls.load() == leaders_call) return;  // of that one its patience was over here
  handler.calls.store(static_cast<std::uint8_t>(leaders_call));
  sigset_t blocked = handler.action.sa_mask;
  sigset_t before;
  if (!(handler.action.sa_flags & SA_NODEFER)) sigaddset(&blocked, number);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  siginfo_t info{};
  info.si_signo = number;
  bool came = handler.taken.exchange(false);
  if (!came && handler.waits.exchange(false)) {
    came = true;
    arm_patience(number, {});
  }
  if (came) info = handler.info;
  handler.called_early.store(!came);
  ucontext_t context{};
  (void)::getcontext(&context);
  call_handler(number, &info, &context);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace holdfast::replicate
