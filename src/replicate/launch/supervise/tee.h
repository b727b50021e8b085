#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/status/status.h"

namespace holdfast::launch {

/// Copies one stream to several FIFOs, whose readers come, read and go as they like: a reader that never opens its
/// FIFO, reads slowly or stops reading holds up neither the others nor the end of the job. What was read waits in a
/// spool file until the slowest reader takes it; nothing is read from the source far ahead of the fastest one. A FIFO
/// is closed when all of the stream is in it, so that its reader sees the end. A terminal is read only while this
/// process is in its foreground. Runs in a thread of its own from the constructor to finish(), which does not wait for
/// readers.
class InputTee {
 public:
  /// Creates the FIFOs. Error: io.
  static Status make_fifos(const std::vector<std::string>& fifos);
  /// `source` stays the caller's, open for as long as this lives; the spool file is created here.
  InputTee(int source, const std::vector<std::string>& fifos, const std::string& spool);
  ~InputTee();
  /// Ends it; may be called again. Error (io): the stream could not be read or kept to its end, which its readers
  /// cannot tell from a shorter one.
  Status finish();
  InputTee(const InputTee&) = delete;
  InputTee& operator=(const InputTee&) = delete;

 private:
  class Copier;
  int stop_;  ///< eventfd
  std::unique_ptr<Copier> copier_;
  std::thread thread_;
};

}  // namespace holdfast::launch
