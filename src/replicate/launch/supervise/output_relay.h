#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/status/status.h"

namespace holdfast::launch {

/// A descriptor that output is shown on. Once that has failed nothing more is written: what comes counts as shown, so
/// that the job goes on, and its end says so.
class Outlet {
 public:
  explicit Outlet(int to) : to_(to) {}
  void write(std::string_view text);
  int error() const { return error_; }  ///< an errno, or 0

 private:
  int to_;
  int error_ = 0;
};

/// Whether all that was shown has arrived.
struct Arrival {
  Status status;                 ///< io where it could not be written
  bool reader_has_gone = false;  ///< before the end, as `head` does; not an error
};

/// What was shown of a stream of a rank's, by a replica that was taken out, and is not so in the one that led after it.
struct WronglyShown {
  int rank = 0;
  std::string ending;  ///< ".out" or ".err"
  int replica = 0;     ///< whose it was
  int against = 0;     ///< the one that led next
  long long byte = 0;  ///< the first that is not so
};

/// Shows the output of a job in which every replica writes to files of the run directory (rank-<v>.replica-<k>.out,
/// .err: what the program writes; .other.out, .other.err: what comes from elsewhere), each rank's lines whole and in
/// order, but for streams that what starts the program sends to files or pipes of its own. Runs in a thread of its own
/// from the constructor to finish(), which shows all that is there by then.
class OutputRelay {
 public:
  /// Shows what the replica writes that leads at the time, and from the same place on what the next one writes when it
  /// changes: so that what one wrote before it died is shown once, and what another had written by then, and what
  /// comes, is not lost. What the next one has otherwise is shown as well, from the beginning of the line, but for
  /// streams that `may_differ` names, as files (rank-0.stdout). `leader`: the replica that leads now, -1 for none;
  /// called from the relay's thread. Writes to descriptors 1 and 2, and to `others_to` what is in .other.err: MPI
  /// speaks there, too, and who reads it knows MPI's words from the program's (LauncherErrors).
  OutputRelay(std::string run_directory, int ranks, int others_to, std::function<int()> leader,
              std::string may_differ = "");
  /// Shows what more than half of `degree` replicas have written alike, and nothing before; the rest likewise.
  OutputRelay(std::string run_directory, int ranks, int others_to, int degree);
  ~OutputRelay();
  /// Ends it; may be called again.
  Arrival finish();
  /// After finish().
  const std::vector<WronglyShown>& wrongly_shown() const;
  OutputRelay(const OutputRelay&) = delete;
  OutputRelay& operator=(const OutputRelay&) = delete;

 private:
  class Relay;
  void start();
  int stop_;  ///< eventfd
  std::unique_ptr<Relay> relay_;
  std::thread thread_;
};

/// Copies to `to` what a file has from byte `from` on, up to its last whole line, or all of it. How many bytes.
long long relay_lines(const std::string& path, long long from, Outlet& to, bool all);

/// The stream of a rank whose lines are held back until more than half of its replicas have written them.
class HeldStream {
 public:
  /// `paths`: of each replica's record, which need not be there yet. `to` outlives this.
  HeldStream(std::vector<std::string> paths, Outlet& to) : paths_(std::move(paths)), to_(to) {}
  /// Shows the lines that are agreed on by now. A piece of a line without an end, such as a question, is shown when it
  /// has stayed the same for a while.
  void show();
  /// The job has ended: shows the rest that is agreed on, and then what the lowest replica has besides; true where
  /// there was something.
  bool show_rest();

 private:
  bool show_next(bool whole_lines);
  std::vector<std::string> paths_;
  Outlet& to_;
  long long shown_ = 0;
  long long seen_ = 0;  ///< of what was agreed on, at the last look
  int looks_ = 0;       ///< since that changed
};

}  // namespace holdfast::launch
