#pragma once

#include <mpi.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "replicate/engine/call_history.h"
#include "replicate/engine/counters.h"
#include "replicate/engine/host.h"
#include "replicate/engine/injector.h"
#include "replicate/engine/membership.h"
#include "replicate/engine/options.h"
#include "replicate/engine/replica.h"
#include "replicate/engine/replica_map.h"
#include "replicate/process/tally.h"

namespace holdfast::replicate {

class Comms;
class Looks;
class MpiControlChannel;
class Requests;

/// A communicator's handle in another world in which this process plays its rank (cross_world_send.h).
struct InWorld {
  int world;
  MPI_Comm handle;
};

/// The state of replication in this process: made by MPI_Init, gone after MPI_Finalize. Hooks run on one thread at a
/// time (threads.h), so nothing here is locked. What is a class of a room above is made by life/hooks_life.cc, and only
/// referred to here.
struct Runtime : Membership {
  Runtime(Comms& all_comms, MpiControlChannel& channel, Requests& all_requests, Looks& at_looks, Host& of_engine)
      : comms(all_comms), control(channel), requests(all_requests), looks(at_looks), host(of_engine) {}

  Options options;
  std::optional<ReplicaMap> map;
  int physical_rank = 0;  ///< own rank in the real world
  int ranks = 1;
  bool partial = false;     ///< other ranks have more or fewer
  bool verifying = false;   ///< some rank has more than one
  std::string leader_host;  ///< what gethostname() says where replica 0 of this rank runs
  bool crowded = false;     ///< more processes than cores on some host: give the core away while waiting
  bool threaded = false;    ///< some process has MPI_THREAD_MULTIPLE
  int agreeing_thread = 0;  ///< the kernel's number of the thread that called MPI_Init

  MPI_Comm real_world = MPI_COMM_NULL;
  MPI_Comm world = MPI_COMM_NULL;     ///< this replica's own world
  std::vector<InWorld> other_worlds;  ///< those beyond this rank's degree in which this process plays it too
  Comms& comms;
  MpiControlChannel& control;
  Requests& requests;
  Looks& looks;
  Host& host;
  CallHistory history;
  Counters& counters = tallied_counters();
  Injector injector;
  std::optional<Replica> engine;  ///< where anything is verified

  bool survives = false;  ///< the job goes on without the replica of a process that dies

  /// Another replica may not get on without an answer of this one about a message that is long past here, so that this
  /// process must not disappear into a blocking MPI call that waits for others.
  bool must_answer() const { return survives || partial || (engine && engine->answers_late()); }
  int team_physical_rank(int of_replica) const { return map->physical_rank(rank, of_replica); }
};

/// Null until runtime() is asked for the first time, then never again: hooks run in exit handlers.
inline constinit std::atomic<Runtime*> process_runtime{nullptr};
/// Makes it, with the parts of all rooms (life/hooks_life.cc).
Runtime& make_runtime();

/// Every call of MPI asks for it some twenty times, so it is no call itself.
[[gnu::always_inline]] inline Runtime& runtime() {
  Runtime* made = process_runtime.load(std::memory_order_acquire);
  return made != nullptr ? *made : make_runtime();
}

}  // namespace holdfast::replicate
