#include "replicate/launch/supervise/incident.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <tuple>
#include <utility>

#include "core/event/json.h"
#include "core/time/nanoseconds.h"
#include "replicate/launch/plan/left_file.h"

namespace holdfast::launch {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uint64_t most_incident_bytes = 64U << 20U;  ///< of a file; one that is larger is cut off

std::string text_of(const Json& object, const char* name) {
  auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return {};
  std::string text = found->get<std::string>();
  std::replace_if(
      text.begin(), text.end(), [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
  return text;
}

template <class Integer>
Integer number_of(const Json& object, const char* name, Integer otherwise) {
  auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return otherwise;
  const bool beyond = found->is_number_unsigned() && !std::in_range<long long>(found->get<std::uint64_t>());
  const auto number = found->get<long long>();
  return !beyond && std::in_range<Integer>(number) ? static_cast<Integer>(number) : otherwise;
}

void place(Incident& incident, const std::string& file_name) {
  for (const char* ending : {".json", ".json.draft"}) {
    const auto name = process_named(file_name, "incident-", ending);
    if (!name) continue;
    incident.rank = name->rank;
    incident.replica = name->replica;
  }
}

Incident unreadable(const std::string& file_name, const std::string& how) {
  Incident incident;
  place(incident, file_name);
  incident.kind = "unreadable";
  incident.message = "the incident file " + file_name + " " + how;
  incident.whole = {
      {"kind", incident.kind}, {"rank", incident.rank}, {"replica", incident.replica}, {"message", incident.message}};
  return incident;
}

std::int64_t written_ns(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return 0;
  return time::in_ns(status.st_mtim);
}

}  // namespace

Incident read_incident(const std::string& text, const std::string& file_name) {
  Incident incident;
  place(incident, file_name);
  incident.whole = event::parse_json(text);
  if (!incident.whole.is_object()) return unreadable(file_name, "is damaged");
  incident.kind = text_of(incident.whole, "kind");
  incident.message = text_of(incident.whole, "message");
  incident.rank = number_of(incident.whole, "rank", incident.rank);
  incident.replica = number_of(incident.whole, "replica", incident.replica);
  incident.call = number_of(incident.whole, "call", incident.call);
  incident.signal = number_of(incident.whole, "signal", incident.signal);
  return incident;
}

std::vector<Incident> read_incidents(const std::string& folder, const std::string& job) {
  std::vector<Incident> incidents;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    std::string base = entry.path().filename().string();
    if (!base.starts_with("incident-")) continue;
    const bool draft = base.ends_with(".json.draft");
    if (draft && fs::exists(entry.path().parent_path() / entry.path().stem(), failed))
      continue;  // a later one was finished
    if (!draft && !base.ends_with(".json")) continue;
    incidents.push_back(draft ? unreadable(base, "is not finished")
                              : read_incident(read_left_file(entry.path().string(), most_incident_bytes), base));
    const Incident& read = incidents.back();
    if (read.kind != "unreadable" && !job.empty() && text_of(read.whole, "job") != job)
      incidents.back() = unreadable(base, "is another job's");
    incidents.back().written_ns = written_ns(entry.path().string());
  }
  std::sort(incidents.begin(), incidents.end(), [](const Incident& a, const Incident& b) {
    return std::tie(a.rank, a.replica, a.kind) < std::tie(b.rank, b.replica, b.kind);
  });
  return incidents;
}

}  // namespace holdfast::launch
