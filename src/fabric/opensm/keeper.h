#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/status/status.h"

namespace holdfast::fabric::opensm {

/// One program that a keeper starts: absolute path first, NAME=text variables that are its whole environment, and the
/// descriptors that it gets as 0, 1, 2 and 3 (-1: /dev/null, and nothing as 3).
struct Program {
  std::vector<std::string> words;
  std::vector<std::string> environment;
  int input = -1;
  int output = -1;
  int errors = -1;
  int third = -1;
};

/// A child process that owns a scratch folder and the programs started in it. When this process closes the keeper, or
/// ends for any reason, by SIGKILL too, the keeper kills the programs at once (SIGKILL: OpenSM ignores SIGTERM while it
/// computes, and nothing of theirs is kept), removes the folder, and ends. When the keeper itself is killed the
/// programs die with it (PR_SET_PDEATHSIG), and the folder stays until the next keeper of this user opens
/// (remove_left_folders()). It has a process group of its own, so that Ctrl-C reaches the caller alone. Not
/// thread-safe, but several threads may have one each.
class Keeper {
 public:
  Keeper() = default;
  Keeper(Keeper&& other) noexcept { *this = std::move(other); }
  Keeper& operator=(Keeper&& other) noexcept;
  ~Keeper() { close(); }

  /// Creates the folder, mode 0700, which the keeper locks. Error: io.
  static Result<Keeper> open(const std::string& folder);

  /// Starts a program in the folder. It and its descriptors are copied: the caller closes its own. Error: io.
  Result<pid_t> start(const Program& program);

  /// Sends a signal to a program that start() gave. Nothing happens when it has ended.
  void signal(pid_t program, int number);

  /// Kills the programs, removes the folder, and returns when that has been done. `keep` leaves the folder.
  void close(bool keep = false);

  const std::string& folder() const { return folder_; }
  bool is_open() const { return keeper_ > 0; }

 private:
  std::string folder_;
  pid_t keeper_ = -1;
  int control_ = -1;  // a SOCK_SEQPACKET socket to the keeper
};

}  // namespace holdfast::fabric::opensm
