#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace holdfast::launch {

/// One record of those that each replica's world has left (record.<k>.json): counters added, corrupt copies by rank and
/// replica added. Null when there is none. A replica that was taken out left none, and what it counted is lost with it.
nlohmann::ordered_json merge_records(const std::string& run_directory, int degree);

}  // namespace holdfast::launch
