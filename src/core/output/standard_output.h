#pragma once

#include <iosfwd>
#include <memory>

#include "core/status/status.h"

namespace holdfast::output {

/// Sees to it that what a program prints has arrived: while it lives, std::cout writes to descriptor 1 through it, at
/// each line where that is a terminal, and the first error is kept. One per process, made in main before anything is
/// printed or opened: a standard descriptor that was closed is taken, so that no file of the program's gets its number
/// and with it what is printed. What std::printf prints does not pass here.
class StandardOutput {
 public:
  StandardOutput();
  ~StandardOutput();
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  /// Writes what is left. Error (io): something printed has not arrived, unless because the reader has gone.
  Status finish();
  /// Whoever read it has gone before the end, as `head` does; known where SIGPIPE does not end the process.
  bool reader_has_gone() const;

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;
  std::streambuf* before_;
};

/// Whether anything can be written there, for commands whose children print to it. Error (io): it was closed, or is
/// open for reading alone. Any thread.
Status check_standard_output();

/// What the end of a program says when it could not write to a stream. `error`: an errno; `stream`: "standard output".
Status unwritten(int error, const char* stream);

}  // namespace holdfast::output
