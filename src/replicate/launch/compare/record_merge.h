#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace holdfast::launch {

/// One record of those that each replica's world has left (record.<k>.json): counters added, corrupt copies by rank and
/// replica added. Null when there is none. A replica that was taken out left none, and what it counted is lost with it.
/// Records of another job than `job` are none.
nlohmann::ordered_json merge_records(const std::string& run_directory, const std::string& job, int degree);

/// Which record of these replicas, all of which reached the end, is not there or not whole, for people; empty: none.
std::string missing_record(const std::string& run_directory, const std::string& job, const std::vector<int>& replicas);

}  // namespace holdfast::launch
