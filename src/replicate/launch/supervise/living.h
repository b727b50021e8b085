#pragma once

#include <set>
#include <string>

namespace holdfast::launch {

/// The processes of a job that live below this one, by the number that their launcher gave them (OMPI_COMM_WORLD_RANK,
/// PMI_RANK): of each at least one with that number and the job's identity in its environment is left, be it a shell
/// that is going to be the program. Any thread.
std::set<int> living_processes(const std::string& job);

}  // namespace holdfast::launch
