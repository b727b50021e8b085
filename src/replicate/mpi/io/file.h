#pragma once

#include <mpi.h>

#include <string>

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "functions.h"
#include "replicate/mpi/agree/one_thread.h"
#include "replicate/mpi/collective/collective.h"
#include "replicate/mpi/pointtopoint/operation.h"

namespace holdfast::replicate {

class CommonFile;

/// What the library knows of one open file. Every replica has opened it, in its own world (docs/design/parallel-io.md):
/// each reads for itself and what it read is compared; replica 0 alone writes, when all have come with the same data.
struct File {
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  MPI_File handle = MPI_FILE_NULL;
  std::uint64_t id = 0;
  std::uint64_t comparisons = 0;
  MPI_Comm comm = MPI_COMM_NULL;  ///< a duplicate of the one that it was opened on, in this replica's world; null at
                                  ///< followers that opened it by themselves
  int amode = 0;                  ///< as the application gave it; followers do not create or delete
  std::shared_ptr<InTurn> in_flight = std::make_shared<InTurn>();
  std::shared_ptr<CommonFile> place;  ///< where this process sees to it that all replicas see one file
  MPI_Status split{};                 ///< outcome of a split collective between its begin and its end

  OneThread pointers;                                         ///< the file's own and the shared one
  std::unordered_map<std::uint64_t, std::uint64_t> accesses;  ///< where several threads communicate, see at()

  /// Names the next comparison of one thread.
  Comparison next(std::uint64_t what = 0) { return {id, comparisons++, what}; }
  /// Names the next one of a call with an explicit offset, which several threads may make at once: by what it accesses,
  /// not by the order of calls. The numbers of calls alike are kept until the file is closed, 16 bytes a different
  /// access.
  Comparison at(Function function, MPI_Offset offset, std::uint64_t bytes);
};

/// All open files by handle. One thread at a time.
class Files {
 public:
  File& add(MPI_File handle, std::uint64_t id, int amode);
  File* find(MPI_File handle);
  void remove(MPI_File handle);
  std::size_t live() const { return files_.size(); }

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<File>> files_;
};
Files& files();

/// Waits until all replicas of this rank are at this call: nothing that the leader does from here on can be seen by a
/// follower's earlier call.
void arrive(Function function, File& file);

/// The leader's bytes in place of a follower's own, on the thread that called MPI_Init, where all replicas ask for
/// them.
void take_leaders(std::span<std::byte> own);
/// The same for a text, which may be longer or shorter there.
void take_leaders(std::string& own);

}  // namespace holdfast::replicate
