#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/status/status.h"

namespace holdfast::launch {

inline constexpr const char* secret_file_name = "secret";  ///< in the run directory

/// Whether a folder's file system has no room for one more record, or the user's quota has none. Tries it.
bool takes_no_more(const std::string& path);

/// The folder of one run, shared by all its processes (HOLDFAST_RUN_DIRECTORY):
///
///   .holdfast-run                    the mark of a run directory, locked (flock) as long as its job runs
///   rank-<v>.replica-<k>.out, .err   what the program itself wrote to its standard streams, recorded by the library
///   rank-<v>.replica-<k>.other.out, .other.err   what else came out of processes whose output is not shown
///   record.json                      what the library counted, written at the end by physical rank 0
///   record.<k>.json                  the same of one replica, where the job goes on when a process dies
///   membership                       where processes say that they are there (membership_server.h)
///   incident-<v>.<k>.json            why a job ended early, written by whoever diagnosed it
///   counted-<v>.<k>                  what a process has counted, at any time (tally.h)
///   status-<v>.<k>                   with what a process ended after MPI_Finalize
///   finished-<v>.<k>                 a process's closing statement (closing.h)
///   launcher.err                     what the launcher itself said, where it is not shown
///   holdfast-files/                  what the replicas wrote (shadow/file_view.h)
///   holdfast-answers/                what the system told a rank while its replicas could not talk (answers.h); gone
///                                    when the job has ended
///   hosts, stdin*                    what the launcher was given
///   secret                           what the processes of the job share, mode 0600; gone when the job has ended
///
/// Removed after a success, unless the user named the folder or asked to keep it. One job at a time has it, and nothing
/// is taken for such a folder that is not marked as one: other people's files may have the same names.
class RunDirectory {
 public:
  /// The absolute path that create() would use: `output`, or holdfast-run-<time>-<pid> in the working folder.
  static std::string plan(const std::optional<std::string>& output);
  /// Makes the folder, or takes one of this user's that is empty, or that an earlier run has marked and no other job
  /// holds; of that the files of the earlier run are removed, and nothing else. Errors: bad_input when it is none of
  /// these, and then nothing was touched; io.
  static Result<RunDirectory> create(const std::string& path, bool keep);
  RunDirectory(RunDirectory&& other) noexcept
      : path_(std::move(other.path_)), keep_(other.keep_), lock_(std::exchange(other.lock_, -1)) {}
  RunDirectory& operator=(RunDirectory&&) = delete;
  RunDirectory(const RunDirectory&) = delete;
  ~RunDirectory();

  const std::string& path() const { return path_; }
  /// Ends the run: removes what nobody needs any more (FIFOs, spooled input, host files), and the whole folder after a
  /// success unless it is to be kept. True when the folder is still there.
  bool conclude(bool success);

 private:
  RunDirectory(std::string path, bool keep, int lock) : path_(std::move(path)), keep_(keep), lock_(lock) {}
  std::string path_;
  bool keep_;
  int lock_;  ///< descriptor of the mark
};

/// Whether any replica other than 0 left output there, which each does when it starts, even if it prints nothing.
bool any_replica_began(const std::string& run_directory);
/// Whether any process left something that it does at MPI_Finalize, sound or not.
bool any_left_a_record(const std::string& run_directory);

}  // namespace holdfast::launch
