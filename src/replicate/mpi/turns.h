#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>

namespace holdfast::replicate {

/// Who comes when at a window that processes access by lock and unlock. MPI leaves that open, and a result may depend
/// on it (tickets, queues, mutexes made of MPI_Compare_and_swap), so the leader's world takes turns as they come,
/// counts them, and each follower takes the turn with its leader's number.
///
/// The counts stand at each target, in a small window of this library's own: how many exclusive and shared lock epochs
/// have ended there, how many atomic accesses were asked for and how many were made, and, in the leader's world, who
/// holds what now. All is done by adding: MPI_Compare_and_swap of Open MPI 4.1 fails on one's own memory (btl/vader).
/// One thread at a time. Waits by testing.
class Turns {
 public:
  /// Collective over `members`.
  explicit Turns(MPI_Comm members);
  void close();

  void begin_epoch(int type, int target);
  void end_epoch(int type, int target);
  /// Makes one atomic access of a shared epoch in its turn; `access` must be complete at the target when it returns.
  int take_turn(int target, const std::function<int()>& access);

 private:
  enum class Slot : MPI_Aint { exclusive_ended, shared_ended, asked, accesses, holders, count };
  std::int64_t read(Slot slot, int target);
  std::int64_t add(Slot slot, int target, std::int64_t value);
  bool hold(bool exclusive, int target);
  void wait_for(Slot slot, int target, std::int64_t value);

  MPI_Win window_ = MPI_WIN_NULL;
};

/// Whether this process has ever been in a turn, or in an epoch: what the leader's world holds then is nobody else's.
bool turns_were_taken();

}  // namespace holdfast::replicate
