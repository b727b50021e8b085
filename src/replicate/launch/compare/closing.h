#pragma once

#include <string>
#include <vector>

#include "replicate/engine/replica_map.h"

namespace holdfast::launch {

/// What is missing of that which the processes of a job said they had left in the run directory, for people; empty when
/// all is there. Every process of the given replicas leaves a closing statement after MPI_Finalize, `finished-<v>.<k>`:
///
///   job NAME stdout BYTES stderr BYTES files 0|1
///
/// The records of its standard streams must have at least so many bytes, and the folder of its replica's files must be
/// there if it was. Without this a record that vanished would look like that of a process that had nothing to say, and
/// several that vanished like agreement.
std::string missing_evidence(const std::string& run_directory, const std::string& job, const replicate::ReplicaMap& map,
                             const std::vector<int>& replicas);

}  // namespace holdfast::launch
