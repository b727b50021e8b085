#pragma once

#include <functional>
#include <string>
#include <thread>

namespace holdfast::launch {

/// Shows what the leading replica writes, where every replica writes to files of the run directory
/// (rank-<v>.replica-<k>.out, .err): each rank's lines whole and in order, from the files of the replica that leads at
/// the time, and from the same place on in those of the next one when it changes. So that what one wrote before it died
/// is shown once, and what another had written by then, and what comes, is not lost. Runs in a thread of its own from
/// the constructor to the destructor, which shows all that is there by then.
class OutputRelay {
 public:
  /// `leader`: the replica that leads now, -1 for none; called from the relay's thread. Writes to descriptors 1 and 2.
  OutputRelay(std::string run_directory, int ranks, std::function<int()> leader);
  ~OutputRelay();
  OutputRelay(const OutputRelay&) = delete;
  OutputRelay& operator=(const OutputRelay&) = delete;

 private:
  int stop_;  ///< eventfd
  std::thread thread_;
};

/// Copies to `to` what a file has from byte `from` on, up to its last whole line, or all of it. How many bytes.
long long relay_lines(const std::string& path, long long from, int to, bool all);

}  // namespace holdfast::launch
