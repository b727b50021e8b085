#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "functions.h"
#include "replicate/mpi/agree/one_thread.h"
#include "replicate/mpi/collective/collective.h"
#include "replicate/mpi/onesided/lock_sequencer.h"
#include "replicate/mpi/verify/layout.h"

namespace holdfast::replicate {

/// What the windows of one communicator have in common.
struct WindowMembers {
  MPI_Comm comm = MPI_COMM_NULL;  ///< of the same group, which the application cannot see
  SequencerCounts counts;
};

/// What the library knows of one window. It is MPI's own, in the replica's own world (docs/design/one-sided.md).
///
/// What goes out (Put, Accumulate) is held until the synchronisation that completes it, compared across the replicas,
/// corrected where it lies, and given to MPI then. What comes back (Get) is compared when that synchronisation is over.
/// One thread at a time uses it (user()); different ones may be used by several at once.
class Window {
 public:
  /// `own_base` and `own_bytes`: the memory that this process exposes, null where that is not one piece.
  Window(MPI_Win handle, Comm& parent, void* own_base, MPI_Aint own_bytes, bool shared);

  MPI_Win handle() const { return handle_; }
  std::uint64_t id() const { return id_; }  ///< alike in every replica
  int peers() const { return static_cast<int>(locks_.size()); }
  int virtual_rank(int target) const { return ranks_[static_cast<std::size_t>(target)]; }

  /// Whether a synchronisation call has opened an access epoch to that target; without one MPI raises the error.
  bool accessible(int target) const;
  bool passive(int target) const { return lock_all_ || locks_[static_cast<std::size_t>(target)] != 0; }
  /// Passive and shared with other processes: what is atomic must happen in the leader's order.
  bool shared(int target) const { return lock_all_ || locks_[static_cast<std::size_t>(target)] == MPI_LOCK_SHARED; }
  bool locked(int target) const { return locks_[static_cast<std::size_t>(target)] != 0; }
  bool locked_all() const { return lock_all_; }
  bool any_lock() const;

  /// One access of the epoch, to be made by `call`. `out`: memory that it reads; `in`: memory that its result goes to.
  /// `racing`: its result may depend on who comes first, and is the leader's then.
  struct Access {
    int target;
    MPI_Aint displacement;
    std::vector<Region> out{};
    std::vector<Region> in{};
    std::vector<MPI_Datatype> types{};  ///< kept for the call, freed after it
    bool racing = false;
    std::function<int()> call{};
  };
  /// Holds it until the epoch's end.
  void queue(Access access);
  /// Makes it now: what it reads compared before; atomic ones of a shared epoch in the leader's order, their results
  /// compared at once.
  int perform_now(Function function, Access access, bool atomic);

  /// A synchronisation `call` that completes the accesses to `target`, or to all (-1).
  int complete(Function function, int target, const std::function<int()>& call);
  /// Compares what this process exposes.
  void compare_exposed(Function function);
  /// Waits until every process of the window is here.
  void meet();

  int lock(int type, int target, int assertion);
  int unlock(int target);
  int lock_all(int assertion);
  int unlock_all();
  void note_fence(int assertion);
  void note_start() {
    started_ = true;
    fenced_ = false;
  }
  void note_complete() { started_ = false; }

  /// Frees what stands beside MPI's window. Collective.
  void close();

  OneThread& user() { return user_; }

 private:
  std::vector<Access> take(int target);
  Comparison next(std::uint64_t what = 0) { return {id_, comparisons_++, what}; }

  MPI_Win handle_;
  std::shared_ptr<WindowMembers> members_;
  std::uint64_t id_;
  std::vector<int> ranks_;
  std::vector<Region> exposed_;
  bool exposed_comparable_ = false;
  std::vector<int> locks_;  ///< by target: 0, MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE
  bool lock_all_ = false;
  bool fenced_ = false;
  bool started_ = false;
  std::vector<Access> queued_;
  std::uint64_t comparisons_ = 0;
  OneThread user_;
  SequencerCounts::Place place_;
  LockSequencer sequencer_;
};

/// All live windows by handle.
class Windows {
 public:
  void add(MPI_Win handle, MPI_Comm comm, void* own_base, MPI_Aint own_bytes, bool shared);
  Window* find(MPI_Win handle);
  void remove(MPI_Win handle);
  std::size_t live() const { return windows_.size(); }

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<Window>> windows_;
};
Windows& windows();

}  // namespace holdfast::replicate
