#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/event_writer.h"
#include "recorded_functions.h"

namespace holdfast::record {

/// A handle of MPI (a pointer in Open MPI, an int in MPICH) as a number.
template <class Handle>
std::uint64_t number_of(Handle handle) {
  std::uint64_t number = 0;
  static_assert(sizeof(Handle) <= sizeof(number));
  std::memcpy(&number, &handle, sizeof(Handle));
  return number;
}

/// A communicator that the program has.
struct KnownCommunicator {
  std::int64_t number = 0;  ///< in the trace
  int rank = 0;             ///< of this process in it
  bool inter = false;
  Communicator members;
  std::vector<std::int64_t> to, from;  ///< neighbours of a topology, by rank in the world

  /// Whom the ranks of a call name: the other group of an intercommunicator.
  const std::vector<std::int64_t>& others() const { return inter ? members.remote : members.members; }
};

/// A request that the program has.
struct KnownRequest {
  std::int64_t number = 0;
  bool receives = false;
  bool any_source = false, any_tag = false;
  bool persistent = false;
  bool active = true;
  bool cancelled = false;
  std::shared_ptr<KnownCommunicator> communicator;
  MPI_Comm* makes = nullptr;  ///< where MPI writes the communicator that it makes
};

/// A window or a file that the program has.
struct KnownObject {
  std::int64_t number = 0;
  std::shared_ptr<KnownCommunicator> communicator;
};

struct KnownMessage {
  std::shared_ptr<KnownCommunicator> communicator;
  std::int64_t source = nobody;
  std::int64_t tag = any_tag;
  std::int64_t bytes = 0;
};

/// All that is kept while the program runs; one a process, made when MPI is started. Whoever uses it holds the lock,
/// which nobody waits under.
struct Recorder {
  std::mutex lock;
  std::unique_ptr<EventWriter> writer;
  int descriptor = -1;
  std::int64_t began_ns = 0;
  std::int64_t asks_cpu_after_ns = 0;  ///< how long a thread may be away before its processor time is asked for
  MPI_Group world = MPI_GROUP_NULL;
  std::unordered_map<std::uint64_t, std::shared_ptr<KnownCommunicator>> communicators;
  std::unordered_multimap<std::uint64_t, KnownRequest> requests;  ///< MPI may give several the same handle
  std::unordered_map<std::uint64_t, KnownObject> windows, files;
  std::unordered_map<std::uint64_t, KnownMessage> messages;
  std::int64_t objects = 0;
  std::vector<FactValue> facts;  ///< of the call that is being written
  std::uint64_t last_communicator_handle = 0;
  std::shared_ptr<KnownCommunicator> last_communicator;

  std::shared_ptr<KnownCommunicator> communicator(MPI_Comm comm);
  void learn(MPI_Comm comm);
  void forget_communicator(MPI_Comm comm);
  void hand_over_counts();
};

Recorder& recorder();

/// What a thread is doing. Initial-exec, because the library is preloaded and every call reads it.
struct ThreadState {
  int depth = 0;  ///< inside MPI or this library: MPI's own calls of MPI are not the program's
  bool known = false;
  std::uint32_t number = 0;
  std::int64_t left_at_ns = 0;               ///< when the call before was over; 0: there was none
  std::int64_t asked_at_ns = 0, cpu_ns = 0;  ///< when its processor time was last asked for, and what it was
};
[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadState thread_state;

inline constinit std::atomic<bool> recording_on{false};
inline constinit std::array<std::atomic<std::uint64_t>, function_count> tallies{};

/// Whether a call of this thread is the program's and is to be recorded. Any thread.
inline bool recording() {
  return recording_on.load(std::memory_order_relaxed) && thread_state.depth == 0;
}
/// Counts a call of which only the name is kept. Any thread.
inline void tally(Function function) {
  tallies[static_cast<std::uint32_t>(function)].fetch_add(1, std::memory_order_relaxed);
}

/// Opens the trace of this process and begins; with a line on standard error and no recording where that cannot be.
/// `world`: the group of all processes of the job, which is kept.
void begin_recording(MPI_Group world);
/// Writes what there is and closes the trace. Twice is once.
void end_recording(Ending ending);

/// Ends the process: MPI was loaded where this library cannot see it.
[[noreturn]] void fail_unseen();

}  // namespace holdfast::record
