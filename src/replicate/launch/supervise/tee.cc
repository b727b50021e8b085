#include "replicate/launch/supervise/tee.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include "core/output/write_all.h"

namespace holdfast::launch {
namespace {

constexpr off_t read_ahead = 1 << 20;  ///< bytes read from the source beyond the fastest reader
constexpr int first_retry_ms = 2;      ///< until a reader has opened its FIFO
constexpr int last_retry_ms = 100;

}  // namespace

class InputTee::Copier {
 public:
  Copier(int source, const std::vector<std::string>& fifos, const std::string& spool, int stop)
      : source_(source),
        stop_(stop),
        terminal_(isatty(source) == 1),
        spool_(::open(spool.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
        error_(spool_ < 0 ? errno : 0) {
    for (const std::string& path : fifos) sinks_.push_back({path});
    ended_ = error_ != 0;
  }
  ~Copier() {
    for (Sink& sink : sinks_)
      if (sink.fifo >= 0) sink.finish();
    if (spool_ >= 0) ::close(spool_);
  }
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  int error() const { return error_; }
  void run() {
    while (!all_over()) {
      open_sinks();
      std::vector<pollfd> waits = what_to_wait_for();
      poll(waits.data(), waits.size(), patience());
      if (waits[0].revents != 0) return;
      if (waits[1].revents != 0) take();
      for (Sink& sink : sinks_) give(sink);
    }
  }

 private:
  /// One FIFO and how far its reader has been given the stream.
  struct Sink {
    std::string path;
    int fifo = -1;
    off_t given = 0;
    bool over = false;

    /// A FIFO can be opened for writing only once it has a reader (fifo(7)).
    void try_open() { fifo = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC); }
    void finish() {
      ::close(fifo);
      fifo = -1;
      over = true;
    }
  };

  bool all_over() const {
    return std::all_of(sinks_.begin(), sinks_.end(), [](const Sink& sink) { return sink.over; });
  }
  bool all_open() const {
    return std::all_of(sinks_.begin(), sinks_.end(), [](const Sink& sink) { return sink.over || sink.fifo >= 0; });
  }
  void open_sinks() {
    for (Sink& sink : sinks_)
      if (!sink.over && sink.fifo < 0) sink.try_open();
  }

  /// How long poll may sleep: FIFOs without a reader and a terminal in the background must be looked at again.
  int patience() {
    bool waiting_for_terminal = terminal_ && !ended_ && !foreground();
    if (all_open() && !waiting_for_terminal) return -1;
    retry_ms_ = std::min(retry_ms_ * 2, last_retry_ms);
    return retry_ms_;
  }
  bool foreground() const { return tcgetpgrp(source_) == getpgrp(); }

  bool wants_more() const {
    if (ended_ || (terminal_ && !foreground())) return false;
    return std::any_of(sinks_.begin(), sinks_.end(),
                       [this](const Sink& sink) { return sink.fifo >= 0 && size_ - sink.given < read_ahead; });
  }

  std::vector<pollfd> what_to_wait_for() const {
    std::vector<pollfd> waits{{stop_, POLLIN, 0}, {wants_more() ? source_ : -1, POLLIN, 0}};
    for (const Sink& sink : sinks_)
      if (sink.fifo >= 0 && sink.given < size_) waits.push_back({sink.fifo, POLLOUT, 0});
    // A reader that has taken everything and goes away is noticed by POLLERR, which needs no event asked for.
    for (const Sink& sink : sinks_)
      if (sink.fifo >= 0 && sink.given == size_) waits.push_back({sink.fifo, 0, 0});
    return waits;
  }

  /// Source to spool.
  void take() {
    std::array<char, 65536> buffer;
    ssize_t got = read(source_, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got < 0 && !(terminal_ && errno == EIO)) error_ = errno;  // a terminal that has hung up has ended
    if (got > 0) error_ = output::write_all(spool_, {buffer.data(), static_cast<std::size_t>(got)});
    ended_ = got <= 0 || error_ != 0;
    if (!ended_) size_ += got;
  }

  /// Spool to one FIFO, as much as it takes now.
  void give(Sink& sink) {
    std::array<char, 65536> buffer;
    while (sink.fifo >= 0 && sink.given < size_) {
      ssize_t got = pread(spool_, buffer.data(), buffer.size(), sink.given);
      if (got <= 0) return;
      ssize_t put = write(sink.fifo, buffer.data(), static_cast<std::size_t>(got));
      if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (put < 0) return sink.finish();
      sink.given += put;
    }
    if (sink.fifo >= 0 && (ended_ || reader_left(sink))) sink.finish();
  }
  static bool reader_left(const Sink& sink) {
    pollfd look{sink.fifo, 0, 0};
    return poll(&look, 1, 0) == 1 && (look.revents & POLLERR) != 0;
  }

  int source_;
  int stop_;
  bool terminal_;
  int spool_;
  off_t size_ = 0;  ///< of the spool
  bool ended_ = false;
  int error_;  ///< of reading the source or keeping it: what readers got is not all
  int retry_ms_ = first_retry_ms;
  std::vector<Sink> sinks_;
};

Status InputTee::make_fifos(const std::vector<std::string>& fifos) {
  for (const std::string& path : fifos)
    if (mkfifo(path.c_str(), 0600) != 0)
      return {Code::io, "creating the FIFO " + path, std::strerror(errno), "choose another --output folder"};
  return {};
}

/// All signals belong to the main thread; SIGPIPE is an error of write() here.
InputTee::InputTee(int source, const std::vector<std::string>& fifos, const std::string& spool)
    : stop_(eventfd(0, EFD_CLOEXEC)), copier_(std::make_unique<Copier>(source, fifos, spool, stop_)) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { copier_->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Status InputTee::finish() {
  const std::uint64_t one = 1;
  while (thread_.joinable() && write(stop_, &one, sizeof one) < 0 && errno == EINTR) {
  }
  if (thread_.joinable()) thread_.join();
  if (copier_->error() == 0) return {};
  return {Code::io, "handing standard input to the replicas", std::strerror(copier_->error()),
          "check the free space, or choose another --output folder"};
}

InputTee::~InputTee() {
  (void)finish();
  copier_.reset();
  close(stop_);
}

}  // namespace holdfast::launch
