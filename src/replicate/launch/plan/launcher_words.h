#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "core/status/status.h"

namespace holdfast::launch {

/// Tells the launcher's own words from the program's in one stream that carries both: Open MPI's blocks between lines
/// of dashes, of which it knows the beginnings, its lines "[host:pid] PMIX ERROR ...", hydra's "[proxy:..." and
/// "[mpiexec@...", and those of srun. What is not known for one of these is the program's. Pure.
class LauncherWords {
 public:
  /// Takes what has come; adds the program's to `shown` and the launcher's to `kept`. A line that may turn out to be
  /// the launcher's is held until it is clear.
  void take(std::string_view bytes, std::string& shown, std::string& kept);
  /// Nothing has come for a moment, or nothing will: the beginning of a line is the program's.
  void flush(std::string& shown, std::string& kept);

 private:
  void take_line(const std::string& line, std::string& shown, std::string& kept);

  std::string partial_;  ///< of a line
  std::string rule_;     ///< a line of dashes whose block is not known yet
  bool in_block_ = false;
  bool passing_ = false;  ///< the rest of the present line is the program's
  int block_lines_ = 0;
};

/// The standard error of a launcher: what is the program's goes on to this process's, the rest to a file. A thread of
/// its own reads until the end of the object's life.
class LauncherErrors {
 public:
  /// `path`: the file, which is made when there is something to write. Error: io.
  static Result<std::unique_ptr<LauncherErrors>> start(const std::string& path);
  ~LauncherErrors();
  LauncherErrors(const LauncherErrors&) = delete;
  LauncherErrors& operator=(const LauncherErrors&) = delete;

  /// What the launcher is to have as its standard error.
  int descriptor() const { return write_; }

 private:
  LauncherErrors() = default;
  void run(const std::string& path);
  void pass_on(const std::string& shown, const std::string& kept, const std::string& path);

  int read_ = -1;
  int write_ = -1;
  int stop_ = -1;  ///< eventfd
  int file_ = -1;
  std::thread thread_;
};

/// What the launcher said, as it is in that file; empty without one. At most 64 KiB.
std::string launcher_said(const std::string& path);

}  // namespace holdfast::launch
