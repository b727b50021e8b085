#pragma once

#include <string>

#include "functions.h"
#include "replicate/mpi/io/file.h"
#include "replicate/shadow/file_view.h"

namespace holdfast::replicate {

/// What looks after the program's files (libc/files.h), as far as MPI-IO needs it.
struct FilesLookedAfter {
  const FileView* view = nullptr;  ///< this replica's; null: nothing does
  /// The absolute path that the program means; false for what all replicas use as it is.
  bool (*named)(const char* path, std::string& name) = nullptr;
  bool (*may_differ)(const std::string& name) = nullptr;
};
void find_common_files_by(const FilesLookedAfter& files);

/// A file by a name that the program gave to MPI. MPI-IO knows nothing of the replicas' views: the leader's file is the
/// one that there is. So where the program uses a file by MPI that it has changed otherwise, what the replicas have
/// made of it is compared, their own copies are forgotten, and all see the leader's from there on
/// (docs/design/parallel-io.md).
class CommonFile {
 public:
  /// May begin with the kind of its file system, as "ufs:" (MPI 3.1, 13.2.1).
  explicit CommonFile(const char* filename);

  /// What this replica gives to MPI: a follower's working directory may be in its shadow.
  const char* name_for_mpi() const { return for_mpi_.c_str(); }

  /// Before the leader opens or deletes it: ends when all replicas of this rank have come, where there is something to
  /// do. `changes`: MPI may change it. `compares`: this process speaks for its replica.
  void come_together(Function function, File& comparisons, bool changes, bool compares);
  /// All see the leader's file, at this replica.
  void share() const;

 private:
  void put_right() const;

  std::string for_mpi_;
  std::string resolved_;
  bool looked_after_ = false;
};

}  // namespace holdfast::replicate
