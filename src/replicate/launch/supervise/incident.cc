#include "replicate/launch/supervise/incident.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <tuple>

namespace holdfast::launch {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 64U << 20U;

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
  auto number = found->get<long long>();
  bool fits = number >= std::numeric_limits<Integer>::min() && number <= std::numeric_limits<Integer>::max();
  return fits ? static_cast<Integer>(number) : otherwise;
}

std::string slurp(const std::string& path) {
  std::error_code failed;
  if (fs::file_size(path, failed) > largest_file || failed) return {};
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void place(Incident& incident, const std::string& file_name) {
  std::sscanf(file_name.c_str(), "incident-%d.%d.json", &incident.rank, &incident.replica);
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
  return status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
}

}  // namespace

Incident read_incident(const std::string& text, const std::string& file_name) {
  Incident incident;
  place(incident, file_name);
  incident.whole = Json::parse(text, nullptr, false);
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
                              : read_incident(slurp(entry.path().string()), base));
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

Json read_json_file(const std::string& path) {
  Json object = Json::parse(slurp(path), nullptr, false);
  return object.is_object() ? object : Json(nullptr);
}

Json read_jobs_file(const std::string& path, const std::string& job) {
  Json object = read_json_file(path);
  return object.is_object() && text_of(object, "job") == job ? object : Json(nullptr);
}

}  // namespace holdfast::launch
