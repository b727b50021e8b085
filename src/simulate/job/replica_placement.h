#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/status/status.h"
#include "replicate/engine/replica_map.h"
#include "simulate/job/placement.h"

namespace holdfast::simulate::job {

/// How the places of a job are given to the replicas of its ranks.
struct ReplicaPlacement {
  enum class How : std::uint8_t {
    apart,     ///< replica after replica, none of a rank on a host of another one of it
    together,  ///< the replicas of a rank on places next to each other
    map,       ///< as the map says: which place, in order, has which replica of which rank
  };
  How how = How::apart;
  std::string file{};  ///< of a map, in the format of `holdfast run --map`
};

/// "apart", "together", or the name of a file.
ReplicaPlacement parse_replica_placement(const std::string& text);

/// The host of each process: those of replica 0, rank after rank, then of replica 1, and so on. Degree 1: place().
/// Errors: those of place(); bad_input (replicas that cannot be kept apart; a map of other ranks or replicas),
/// not_found and io of a map file.
Result<std::vector<std::uint32_t>> place_replicas(const PlacementRules& rules, const ReplicaPlacement& how,
                                                  std::uint32_t ranks, int degree, const fabric::Fabric& fabric,
                                                  std::vector<bool>& taken);

}  // namespace holdfast::simulate::job
