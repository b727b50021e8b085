#include "replicate/launch/supervise/output_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "core/output/standard_output.h"

namespace holdfast::launch {

Result<std::unique_ptr<OutputPipe>> OutputPipe::start(int to) {
  std::unique_ptr<OutputPipe> pipe(new OutputPipe(to));
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Status(Code::io, "making a pipe for the launcher's output", std::strerror(errno));
  pipe->read_ = ends[0];
  pipe->write_ = ends[1];
  pipe->stop_ = ::eventfd(0, EFD_CLOEXEC);
  if (pipe->stop_ < 0) return Status(Code::io, "making a pipe for the launcher's output", std::strerror(errno));
  ::fcntl(pipe->read_, F_SETFL, O_NONBLOCK);
  sigset_t all;  // signals belong to the main thread; SIGPIPE is an error of write() here
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  pipe->thread_ = std::thread([here = pipe.get()] { here->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return pipe;
}

void OutputPipe::run() {
  std::array<char, 65536> block;
  while (true) {
    std::array<pollfd, 2> waits{{{read_, POLLIN, 0}, {stop_, POLLIN, 0}}};
    if (::poll(waits.data(), waits.size(), -1) < 0) continue;
    const ssize_t got = ::read(read_, block.data(), block.size());
    if (got > 0) outlet_.write({block.data(), static_cast<std::size_t>(got)});
    if (got == 0 || (got < 0 && waits[1].revents != 0)) return;
  }
}

Arrival OutputPipe::finish() {
  if (thread_.joinable()) {
    ::close(write_);
    write_ = -1;
    const std::uint64_t one = 1;
    while (::write(stop_, &one, sizeof one) < 0 && errno == EINTR) {
    }
    thread_.join();
  }
  Arrival arrival;
  arrival.reader_has_gone = outlet_.error() == EPIPE;
  if (outlet_.error() != 0 && outlet_.error() != EPIPE)
    arrival.status = output::unwritten(outlet_.error(), "standard output");
  return arrival;
}

OutputPipe::~OutputPipe() {
  (void)finish();
  for (const int descriptor : {read_, write_, stop_})
    if (descriptor >= 0) ::close(descriptor);
}

}  // namespace holdfast::launch
