#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "replicate/engine/replica_map.h"
#include "replicate/launch/supervise/incident.h"

/// What follows when the transport has given a peer up: the job is ended, and says between whom.
namespace holdfast::launch {

/// Looks into the run directory of a running job, a few times a second, for what a process leaves there when its
/// transport has given a peer up (transport/ofi/lost_peer.h). A process that waits for a message that will not come
/// cannot end by itself, as its MPI knows nothing of it.
class LostPeerWatch {
 public:
  explicit LostPeerWatch(std::string folder);
  ~LostPeerWatch();
  LostPeerWatch(const LostPeerWatch&) = delete;
  LostPeerWatch& operator=(const LostPeerWatch&) = delete;

  /// Readable when the job is to be ended: a little after the first was found, so that others can say theirs. -1 where
  /// the system gave none: then nothing ends the job but itself.
  int descriptor() const { return ready_; }

 private:
  void watch();

  std::string folder_;
  int ready_ = -1;
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool stopping_ = false;
  std::thread thread_;
};

/// Names the processes in incidents of lost peers by rank and replica, with the line for people, and puts those first
/// that follow from no other: whoever found a peer out of reach before whoever was told of it.
void name_lost_peers(std::vector<Incident>& incidents, const std::string& folder, const replicate::ReplicaMap& map);

}  // namespace holdfast::launch
