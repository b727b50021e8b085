#pragma once

#include <memory>
#include <thread>

#include "core/status/status.h"
#include "replicate/launch/supervise/output_relay.h"

namespace holdfast::launch {

/// The standard output of a launcher on its way to this process's, so that what could not be written is known: mpirun
/// ends with 0 where its own is full. A thread of its own copies from start() to finish(); once writing has failed it
/// reads on and drops what comes, so that the job goes on.
class OutputPipe {
 public:
  /// `to`: the descriptor that output is shown on; it stays the caller's. Error: io.
  static Result<std::unique_ptr<OutputPipe>> start(int to);
  ~OutputPipe();
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;

  /// What the launcher is to have as its standard output.
  int descriptor() const { return write_; }
  /// Ends it when all that is there has been copied, whoever else still has the pipe; may be called again.
  Arrival finish();

 private:
  explicit OutputPipe(int to) : outlet_(to) {}
  void run();

  int read_ = -1;
  int write_ = -1;
  int stop_ = -1;  ///< eventfd
  Outlet outlet_;
  std::thread thread_;
};

}  // namespace holdfast::launch
