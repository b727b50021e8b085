#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace holdfast::replicate {

/// Where the turns of the windows of one group of processes are counted: windows of this library's own, each with room
/// for many. A window takes a communicator, of which MPICH has 2,048 (MPIR_MAX_CONTEXT_MASK), and a program may want a
/// thousand windows.
///
/// All members take and give back places in the same order, and use one only between two calls that all of them are in:
/// those that make and free the window that it is for.
class SequencerCounts {
 public:
  struct Place {
    MPI_Win window = MPI_WIN_NULL;
    MPI_Aint first = 0;  ///< its first count, in counts
  };
  /// One whose counts are all zero. Collective over `members`, and waits for them where there is no room.
  Place take(MPI_Comm members);
  void give_back(const Place& place);
  /// Collective. All places must have been given back.
  void close();

 private:
  static constexpr std::size_t places_a_page = 16;
  struct Page {
    MPI_Win window = MPI_WIN_NULL;
    std::int64_t* counts = nullptr;  ///< this process's, in MPI's memory
    std::array<bool, places_a_page> used{};
  };
  Page& with_room(MPI_Comm members);
  std::vector<Page> pages_;
};

/// Who comes when at a window that processes access by lock and unlock. MPI leaves that open, and a result may depend
/// on it (tickets, queues, mutexes made of MPI_Compare_and_swap), so the leader's world takes turns as they come,
/// counts them, and each follower takes the turn with its leader's number.
///
/// The counts stand at each target (SequencerCounts): how many exclusive and shared lock epochs have ended there, how
/// many atomic accesses were asked for and how many were made, and, in the leader's world, who holds what now. All is
/// done by adding: MPI_Compare_and_swap of Open MPI 4.1 fails on one's own memory (btl/vader). One thread at a time.
/// Waits by testing.
class LockSequencer {
 public:
  /// `place`: one of its own.
  explicit LockSequencer(const SequencerCounts::Place& place) : place_(place) {}

  static constexpr std::size_t counts = 5;  ///< of a window at a target, each of 8 bytes

  void begin_epoch(int type, int target);
  void end_epoch(int type, int target);
  /// Makes one atomic access of a shared epoch in its turn; `access` must be complete at the target when it returns.
  int take_turn(int target, const std::function<int()>& access);

 private:
  enum class Slot : MPI_Aint { exclusive_ended, shared_ended, asked, accesses, holders };
  std::int64_t read(Slot slot, int target);
  std::int64_t add(Slot slot, int target, std::int64_t value);
  bool hold(bool exclusive, int target);
  void wait_for(Slot slot, int target, std::int64_t value);

  SequencerCounts::Place place_;
};

/// Whether this process has ever been in a turn, or in an epoch: what the leader's world holds then is nobody else's.
bool lock_order_was_taken();

}  // namespace holdfast::replicate
