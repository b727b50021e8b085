#include "core/output/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <streambuf>
#include <string_view>

#include "core/output/write_all.h"

namespace holdfast::output {
namespace {

/// Descriptors that were closed are opened the wrong way round: whoever uses one gets an error, not another's file.
void take_closed_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0) (void)::open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

class StandardOutput::Buffer final : public std::streambuf {
 public:
  Buffer() { setp(bytes_.data(), bytes_.data() + bytes_.size()); }
  ~Buffer() override { sync(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  int error() const { return error_; }
  /// Some file systems say only at the end that there was no room (close(2)).
  void close() {
    const int copy = error_ == 0 ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
    if (copy >= 0 && ::close(copy) != 0) error_ = errno;
  }

 protected:
  int_type overflow(int_type byte) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(byte, traits_type::eof())) sputc(traits_type::to_char_type(byte));
    return traits_type::not_eof(byte);
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    const std::streamsize put = std::streambuf::xsputn(bytes, count);
    if (terminal_ && std::string_view(bytes, static_cast<std::size_t>(count)).find('\n') != std::string_view::npos)
      sync();
    return put;
  }
  int sync() override {
    if (error_ == 0) error_ = write_all(STDOUT_FILENO, {pbase(), static_cast<std::size_t>(pptr() - pbase())});
    setp(bytes_.data(), bytes_.data() + bytes_.size());
    return error_ == 0 ? 0 : -1;
  }

 private:
  std::array<char, 1 << 16> bytes_;
  int error_ = 0;
  bool terminal_ = ::isatty(STDOUT_FILENO) != 0;
};

StandardOutput::StandardOutput() {
  take_closed_descriptors();
  buffer_ = std::make_unique<Buffer>();
  before_ = std::cout.rdbuf(buffer_.get());
}

StandardOutput::~StandardOutput() {
  std::cout.flush();
  std::cout.rdbuf(before_);
}

Status StandardOutput::finish() {
  buffer_->pubsync();
  buffer_->close();
  return buffer_->error() == 0 || reader_has_gone() ? Status() : unwritten(buffer_->error(), "standard output");
}

bool StandardOutput::reader_has_gone() const {
  return buffer_->error() == EPIPE;
}

Status check_standard_output() {
  const int flags = ::fcntl(STDOUT_FILENO, F_GETFL);
  return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? unwritten(EBADF, "standard output") : Status();
}

Status unwritten(int error, const char* stream) {
  return {Code::io, std::string("writing to ") + stream, std::strerror(error),
          "check where it goes, and the free space"};
}

}  // namespace holdfast::output
