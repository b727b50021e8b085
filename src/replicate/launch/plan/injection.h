#pragma once

#include <string>
#include <vector>

#include "core/status/status.h"
#include "replicate/engine/replica_map.h"

namespace holdfast::launch {

/// Checks the faults that --inject asks for (docs/spec/faults.md) against the job: only flips reach messages of a run,
/// and rank, replica and peer must exist. Returns them in the grammar's plain form, joined by ';'. Error: bad_input.
Result<std::string> check_injection(const std::string& text, const replicate::ReplicaMap& map);

/// Each fault of a text that has been checked, in the words of the grammar.
std::vector<std::string> faults_in(const std::string& text);

}  // namespace holdfast::launch
