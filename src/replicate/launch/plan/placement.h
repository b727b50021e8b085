#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/status/status.h"
#include "replicate/engine/replica_map.h"
#include "replicate/launch/plan/hosts.h"

namespace holdfast::launch {

/// Where each process runs: an index into the hosts, by physical rank.
using Placement = std::vector<int>;

/// Places every process of the map. Replicas of one rank get different hosts, so that a broken host costs each rank one
/// replica only; with a single host there is no choice. With `colocate` they may share hosts where they must, and are
/// spread as far as the slots allow. Greedy: rank by rank, the hosts with the most free slots first, which finds a
/// placement whenever there is one (the Gale-Ryser construction: D. Gale, "A theorem on flows in networks", Pacific J.
/// Math. 7(2), 1957), also where ranks have different numbers of replicas. Replicas keep the order of the hosts, so
/// that a replica's neighbours tend to share one. Ranks of one process each fill the hosts in order, as the MPI itself
/// would place them. Pure. Error: bad_input when the slots do not suffice, or the hosts to keep replicas apart.
Result<Placement> place(const replicate::ReplicaMap& map, std::span<const Host> hosts, bool colocate);

/// Places the processes of a map that the user has given: physical ranks fill the hosts in the order of both, so that
/// the lines of the map file say which processes share a host, and which are on neighbouring ones (RedMPI,
/// section 3.1). Pure. Error: bad_input when the slots do not suffice.
Result<Placement> place_in_order(const replicate::ReplicaMap& map, std::span<const Host> hosts);

/// The first rank of which one host has several replicas; -1 where none has, or there is one host alone.
int rank_with_replicas_together(const replicate::ReplicaMap& map, std::span<const Host> hosts,
                                const Placement& placement);

/// A host a line, in physical rank order: Open MPI's --map-by seq, and SLURM_HOSTFILE.
std::string as_host_sequence(const Placement& placement, std::span<const Host> hosts);

/// "host:count" blocks in physical rank order: hydra's -f.
std::string as_machine_file(const Placement& placement, std::span<const Host> hosts);

}  // namespace holdfast::launch
