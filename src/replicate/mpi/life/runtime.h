#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "replicate/engine/agreement.h"
#include "replicate/engine/call_history.h"
#include "replicate/engine/counters.h"
#include "replicate/engine/injector.h"
#include "replicate/engine/membership.h"
#include "replicate/engine/options.h"
#include "replicate/engine/replica.h"
#include "replicate/engine/replica_map.h"
#include "replicate/mpi/life/comms.h"
#include "replicate/mpi/pointtopoint/control_channel.h"
#include "replicate/mpi/pointtopoint/engine_host.h"
#include "replicate/mpi/pointtopoint/operation.h"
#include "replicate/process/tally.h"

namespace holdfast::replicate {

/// The state of replication in this process: made by MPI_Init, gone after MPI_Finalize. Hooks run on one thread at a
/// time (threads.h), so nothing here is locked.
struct Runtime : Membership {
  Options options;
  std::optional<ReplicaMap> map;
  int physical_rank = 0;  ///< own rank in the real world
  int ranks = 1;
  bool partial = false;     ///< other ranks have more or fewer
  bool verifying = false;   ///< some rank has more than one
  std::string leader_host;  ///< what gethostname() says where replica 0 of this rank runs
  bool crowded = false;     ///< more processes than cores on this host: give the core away while waiting

  MPI_Comm real_world = MPI_COMM_NULL;
  MPI_Comm world = MPI_COMM_NULL;           ///< this replica's own world
  std::vector<Comm::InWorld> other_worlds;  ///< the worlds beyond this rank's degree in which this process plays it too
  Comms comms;
  MpiControlChannel control;
  Requests requests;
  CallHistory history;
  Counters& counters = tallied_counters();
  Injector injector;
  EngineHost host;
  std::optional<Replica> engine;  ///< where anything is verified

  bool survives = false;  ///< the job goes on without the replica of a process that dies

  /// Another replica may not get on without an answer of this one about a message that is long past here, so that this
  /// process must not disappear into a blocking MPI call that waits for others.
  bool must_answer() const { return survives || partial || (engine && engine->answers_late()); }
  int team_physical_rank(int of_replica) const { return map->physical_rank(rank, of_replica); }
};

Runtime& runtime();

}  // namespace holdfast::replicate
