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
#include "replicate/engine/docket.h"
#include "replicate/engine/inbox.h"
#include "replicate/engine/injector.h"
#include "replicate/engine/options.h"
#include "replicate/engine/replica_map.h"
#include "replicate/mpi/comms.h"
#include "replicate/mpi/counters.h"
#include "replicate/mpi/operation.h"
#include "replicate/mpi/post.h"
#include "replicate/mpi/tally.h"

namespace holdfast::replicate {

/// The state of replication in this process: made by MPI_Init, gone after MPI_Finalize. Hooks run on one thread at a
/// time (threads.h), so nothing here is locked.
struct Runtime {
  Options options;
  std::optional<ReplicaMap> map;
  int native = 0;  ///< own rank in the real world
  int rank = 0;    ///< own virtual rank
  int replica = 0;
  int ranks = 1;
  int degree = 1;           ///< how many replicas this rank has
  bool partial = false;     ///< other ranks have more or fewer
  bool verifying = false;   ///< some rank has more than one
  std::string leader_host;  ///< what gethostname() says where replica 0 of this rank runs
  bool crowded = false;     ///< more processes than cores on this host: give the core away while waiting

  MPI_Comm real_world = MPI_COMM_NULL;
  MPI_Comm world = MPI_COMM_NULL;      ///< this replica's own world
  std::vector<Comm::Carried> carried;  ///< the worlds beyond this rank's degree in which this process plays it too
  Comms comms;
  PostOffice post;
  Requests requests;
  std::optional<Inbox> inbox;
  std::optional<Docket> docket;  ///< under msg-plus-hash with three replicas or more
  CallHistory history;
  Counters& counters = tallied_counters();
  Injector injector;

  bool survives = false;   ///< the job goes on without the replica of a process that dies
  std::vector<char> gone;  ///< by replica: taken out
  int leading = 0;         ///< the replica that decides: the lowest that is left
  int present = 1;         ///< how many are left

  bool leader() const { return replica == leading; }
  bool here(int of_replica) const { return gone[static_cast<std::size_t>(of_replica)] == 0; }
  /// Another replica may not get on without an answer of this one about a message that is long past here, so that this
  /// process must not disappear into a blocking MPI call that waits for others.
  bool must_answer() const { return survives || partial || (docket && degree > 3); }
  int team_native(int of_replica) const { return map->native(rank, of_replica); }
};

Runtime& runtime();

}  // namespace holdfast::replicate
