#include "replicate/launch/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <utility>

#include "core/event/record.h"
#include "core/output/amounts.h"
#include "core/status/exit_code.h"

namespace holdfast::launch {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t places_shown = 4;

std::uint64_t counter(const Json& record, const char* name) {
  if (!record.is_object() || !record.contains("counters") || !record["counters"].is_object()) return 0;
  auto found = record["counters"].find(name);
  return found != record["counters"].end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

Json list(const Json& record, const char* name) {
  bool there = record.is_object() && record.contains(name) && record[name].is_array();
  return there ? record[name] : Json::array();
}

Json suspects(const Json& record) {
  Json found = Json::array();
  for (const Json& entry : list(record, "corrupted")) {
    bool counted = entry.is_object() && entry.contains("copies") && entry["copies"].is_number_unsigned();
    if (counted && entry["copies"].get<std::uint64_t>() >= suspect_copies) found.push_back(entry);
  }
  return found;
}

/// Processes in which an injected fault flipped something, each once, by rank.
Json processes_struck(const std::vector<Corruption>& seen) {
  std::set<std::pair<int, int>> struck;
  for (const Corruption& corruption : seen)
    if (corruption.fault >= 0) struck.emplace(corruption.rank, corruption.replica);
  Json list = Json::array();
  for (const auto& [rank, replica] : struck) list.push_back({{"rank", rank}, {"replica", replica}});
  return list;
}

/// "rank 1 replica 2, rank 0 replica 1 and 3 more".
std::string places(const Json& entries) {
  std::string text;
  std::size_t shown = 0;
  for (const Json& entry : entries) {
    if (!entry.is_object() || shown == places_shown) continue;
    text += fmt::format("{}rank {} replica {}", shown++ == 0 ? "" : ", ", entry.value("rank", Json()).dump(),
                        entry.value("replica", Json()).dump());
  }
  if (entries.size() > places_shown) text += fmt::format(" and {} more", entries.size() - places_shown);
  return text;
}

/// "7 processes (1 to 3 replicas of each)".
std::string processes(const std::vector<int>& degrees) {
  const auto [least, most] = std::minmax_element(degrees.begin(), degrees.end());
  return fmt::format("{} processes ({} to {} replicas of each)",
                     output::grouped(static_cast<std::uint64_t>(std::accumulate(degrees.begin(), degrees.end(), 0))),
                     *least, *most);
}

}  // namespace

std::string summary_line(const Evidence& evidence) {
  const Json& record = evidence.record;
  const std::string ranks = output::count(evidence.ranks, "rank", "ranks");
  std::string line = evidence.degrees.empty() ? ranks + " x " + output::count(evidence.degree, "replica", "replicas")
                                              : ranks + " in " + processes(evidence.degrees);
  if (record.is_null()) return line + (evidence.degree == 1 ? ", unprotected" : ", no record of what was verified");
  // What a replica that died had counted, or would have been caught with, died with it.
  const bool lost = counter(record, "mismatches") == 0 && !evidence.deaths.empty();
  line += ", " + output::count(counter(record, "messages"), "message", "messages") + " (" +
          output::byte_size(counter(record, "bytes")) + ") verified, " +
          (lost ? "no mismatch known of those that are left"
                : output::count(counter(record, "mismatches"), "mismatch", "mismatches")) +
          ", " + output::grouped(counter(record, "corrections")) + " corrected";
  if (std::string where = places(list(record, "corrupted")); !where.empty()) line += " (" + where + ")";
  if (const std::uint64_t alone = counter(record, "unverified"); alone > 0)
    line += ", " + output::grouped(alone) +
            (evidence.degrees.empty() ? " that nobody was left to confirm" : " of ranks with one replica, unverified");
  if (std::string who = places(suspects(record)); !who.empty()) line += "; suspect: " + who;
  for (const Death& death : evidence.deaths) {
    const auto cause = std::find_if(evidence.corruption.begin(), evidence.corruption.end(),
                                    [&](const Corruption& seen) { return seen.replica == death.replica; });
    line += fmt::format("; rank {} replica {} {}", death.rank, death.replica, death.diverged ? "diverged" : "died");
    if (cause != evidence.corruption.end()) line += " after " + corruption_line(*cause, evidence.faults);
  }
  return line;
}

std::string missed_line(const Evidence& evidence) {
  const std::vector<std::string> missed = faults_that_missed(evidence.corruption, evidence.faults);
  if (missed.empty()) return "";
  std::string line = fmt::format("{} of {} never struck:", output::grouped(missed.size()),
                                 output::count(evidence.faults.size(), "injected fault", "injected faults"));
  for (std::size_t i = 0; i < missed.size() && i < places_shown; ++i) line += (i > 0 ? "; " : " ") + missed[i];
  if (missed.size() > places_shown) line += fmt::format("; and {} more", missed.size() - places_shown);
  return line;
}

std::string death_notice(int degree, bool goes_on, const std::string& ends_because) {
  if (goes_on)
    return fmt::format("if a process dies, its replica is taken out, and the other {} on",
                       degree == 2 ? "goes" : std::to_string(degree - 1) + " go");
  return "if a process dies, the job ends (" + ends_because + ")";
}

Json final_record(const Evidence& evidence, const Outcome& outcome, const JobFacts& facts) {
  Json record = event::make_record("holdfast.run", 1);
  record["holdfast"] = HOLDFAST_VERSION;
  record["ranks"] = evidence.ranks;
  record["degree"] = evidence.degree;
  if (!evidence.degrees.empty()) record["degrees"] = evidence.degrees;
  record["protocol"] = facts.protocol;
  record["mpi"] = facts.mpi;
  record["program"] = facts.program;
  record["seconds"] = evidence.ended.seconds;
  record["exit"] = {{"code", outcome.code},
                    {"meaning", exit_meaning(outcome.code)},
                    {"message", outcome.message},
                    {"status", evidence.ended.signal != 0 ? 128 + evidence.ended.signal : evidence.ended.exit_status}};
  bool counted = evidence.record.is_object() && evidence.record.contains("counters");
  record["counters"] = counted ? evidence.record["counters"] : Json::object();
  if (!counted && evidence.tally.is_object()) record["counters"] = evidence.tally;  // until it was ended
  record["corrupted"] = list(evidence.record, "corrupted");
  record["suspects"] = suspects(evidence.record);
  record["processes_struck"] = processes_struck(evidence.corruption);
  record["faults_that_never_struck"] = faults_that_missed(evidence.corruption, evidence.faults);
  record["deaths"] = death_record(evidence.deaths);
  record["incidents"] = Json::array();
  for (const Incident& incident : evidence.incidents) record["incidents"].push_back(incident.whole);
  if (!evidence.record.is_object()) return record;
  for (const auto& [name, value] : evidence.record.items())
    if (!record.contains(name)) record[name] = value;
  return record;
}

}  // namespace holdfast::launch
