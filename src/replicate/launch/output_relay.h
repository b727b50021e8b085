#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::launch {

/// Shows the output of a job in which every replica writes to files of the run directory (rank-<v>.replica-<k>.out,
/// .err: what the program writes; .other.out, .other.err: what comes from elsewhere), each rank's lines whole and in
/// order. Runs in a thread of its own from the constructor to the destructor, which shows all that is there by then.
class OutputRelay {
 public:
  /// Shows what the replica writes that leads at the time, and from the same place on what the next one writes when it
  /// changes: so that what one wrote before it died is shown once, and what another had written by then, and what
  /// comes, is not lost. `leader`: the replica that leads now, -1 for none; called from the relay's thread. Writes to
  /// descriptors 1 and 2.
  OutputRelay(std::string run_directory, int ranks, std::function<int()> leader);
  /// Shows what more than half of `degree` replicas have written alike, and nothing before.
  OutputRelay(std::string run_directory, int ranks, int degree);
  ~OutputRelay();
  OutputRelay(const OutputRelay&) = delete;
  OutputRelay& operator=(const OutputRelay&) = delete;

 private:
  class Relay;
  void start(std::unique_ptr<Relay> relay);
  int stop_;  ///< eventfd
  std::thread thread_;
};

/// Copies to `to` what a file has from byte `from` on, up to its last whole line, or all of it. How many bytes.
long long relay_lines(const std::string& path, long long from, int to, bool all);

/// The stream of a rank whose lines are held back until more than half of its replicas have written them.
class HeldStream {
 public:
  /// `paths`: of each replica's record, which need not be there yet. Shows on descriptor `to`.
  HeldStream(std::vector<std::string> paths, int to) : paths_(std::move(paths)), to_(to) {}
  /// Shows the lines that are agreed on by now. A piece of a line without an end, such as a question, is shown when it
  /// has stayed the same for a while.
  void show();
  /// The job has ended: shows the rest that is agreed on, and then what the lowest replica has besides; true where
  /// there was something.
  bool show_rest();

 private:
  bool show_next(bool whole_lines);
  std::vector<std::string> paths_;
  int to_;
  long long shown_ = 0;
  long long seen_ = 0;  ///< of what was agreed on, at the last look
  int looks_ = 0;       ///< since that changed
};

}  // namespace holdfast::launch
