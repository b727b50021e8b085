#include "replicate/launch/supervise/signal_watch.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <initializer_list>

namespace holdfast::launch {

SignalWatch::SignalWatch() {
  signal(SIGCHLD, SIG_DFL);  // an inherited SIG_IGN would reap children before they are waited for
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&watched, number);
  }
  pthread_sigmask(SIG_BLOCK, &watched, &before_);
  descriptor_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

SignalWatch::~SignalWatch() {
  if (descriptor_ >= 0) {
    while (next() != 0) {  // what arrived and was dealt with late must not strike when the mask is restored
    }
    close(descriptor_);
  }
  restore_mask();
}

int SignalWatch::next() {
  signalfd_siginfo info{};
  return read(descriptor_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void SignalWatch::restore_mask() const {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace holdfast::launch
