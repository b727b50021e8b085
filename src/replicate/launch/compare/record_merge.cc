#include "replicate/launch/compare/record_merge.h"

#include <cstdint>
#include <map>
#include <utility>

#include "core/arithmetic/totals.h"
#include "replicate/launch/plan/left_file.h"

namespace holdfast::launch {

namespace {

using Json = nlohmann::ordered_json;

std::uint64_t unsigned_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string record_name(int replica) {
  return "record." + std::to_string(replica) + ".json";
}

}  // namespace

Json merge_records(const std::string& run_directory, const std::string& job, int degree) {
  Json whole;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> corrupted;
  for (int k = 0; k < degree; ++k) {
    const Json part = read_jobs_file(run_directory + "/" + record_name(k), job);
    if (part.is_null()) continue;
    if (whole.is_null()) whole = {{"ranks", unsigned_of(part, "ranks")}, {"degree", unsigned_of(part, "degree")}};
    if (part.contains("counters") && part["counters"].is_object())
      for (const auto& [name, value] : part["counters"].items())
        if (value.is_number_unsigned())
          whole["counters"][name] = arithmetic::add_or_most(
              value.get<std::uint64_t>(),
              whole.contains("counters") ? unsigned_of(whole["counters"], name.c_str()) : std::uint64_t{0});
    if (!part.contains("corrupted") || !part["corrupted"].is_array()) continue;
    for (const Json& entry : part["corrupted"])
      if (entry.is_object()) {
        std::uint64_t& copies = corrupted[{unsigned_of(entry, "rank"), unsigned_of(entry, "replica")}];
        copies = arithmetic::add_or_most(copies, unsigned_of(entry, "copies"));
      }
  }
  if (whole.is_null()) return whole;
  whole["corrupted"] = Json::array();
  for (const auto& [who, copies] : corrupted)
    whole["corrupted"].push_back({{"rank", who.first}, {"replica", who.second}, {"copies", copies}});
  return whole;
}

std::string missing_record(const std::string& run_directory, const std::string& job, const std::vector<int>& replicas) {
  for (const int k : replicas) {
    const Json part = read_jobs_file(run_directory + "/" + record_name(k), job);
    if (part.is_null() || !part.contains("counters") || !part["counters"].is_object())
      return "the record of replica " + std::to_string(k) + " (" + record_name(k) + ") is missing or damaged";
  }
  return "";
}

}  // namespace holdfast::launch
