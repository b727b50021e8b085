#include "replicate/launch/supervise/lost_peers.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "replicate/launch/plan/left_file.h"

namespace holdfast::launch {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto look_again_after = std::chrono::milliseconds(250);
constexpr auto time_for_others = std::chrono::milliseconds(750);

bool any_lost_peer(const std::string& folder) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("incident-lost-peer-") && name.ends_with(".json")) return true;
  }
  return false;
}

std::string text_under(const Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int process_of(const Json& json) {
  if (!json.is_object() || !json.contains("process") || !json["process"].is_number_unsigned()) return -1;
  const auto number = json["process"].get<std::uint64_t>();
  return number <= 0x7FFFFFFF ? static_cast<int>(number) : -1;
}

/// "rank 3 on hosta", "rank 3 replica 1 on hosta".
std::string who(int process, const std::string& host, const replicate::ReplicaMap& map) {
  const bool known = process >= 0 && process < map.physical_ranks();
  std::string text = known ? "rank " + std::to_string(map.virtual_rank(process)) : std::string("a peer");
  if (known && map.degree() > 1) text += " replica " + std::to_string(map.replica(process));
  return text + (host.empty() ? "" : " on " + host);
}

void name_one(Incident& incident, const std::string& folder, const replicate::ReplicaMap& map) {
  const int process = process_of(incident.whole);
  const std::string number = text_under(incident.whole, "peer");
  const bool plain = !number.empty() && std::all_of(number.begin(), number.end(),
                                                    [](unsigned char letter) { return std::isxdigit(letter) != 0; });
  const Json peer = plain ? read_json_file(folder + "/endpoint-" + number + ".json") : Json();
  if (process >= 0 && process < map.physical_ranks()) {
    incident.rank = map.virtual_rank(process);
    incident.replica = map.replica(process);
  }
  const std::string rails = text_under(incident.whole, "rails");
  incident.message = "the network lost a peer: " + who(process, text_under(incident.whole, "host"), map) +
                     " has given up " + who(process_of(peer), text_under(peer, "host"), map) + ": " +
                     text_under(incident.whole, "why") + (rails.empty() ? "" : "; rails: " + rails);
  if (incident.whole.is_object() && incident.whole.contains("lost_messages") &&
      incident.whole["lost_messages"].is_number_unsigned()) {
    const auto lost = incident.whole["lost_messages"].get<std::uint64_t>();
    if (lost > 0) incident.message += "; " + std::to_string(lost) + " messages that were reported as sent are lost";
  }
}

}  // namespace

LostPeerWatch::LostPeerWatch(std::string folder)
    : folder_(std::move(folder)), ready_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (ready_ >= 0) thread_ = std::thread([this] { watch(); });
}

LostPeerWatch::~LostPeerWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wakes_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (ready_ >= 0) ::close(ready_);
}

void LostPeerWatch::watch() {
  std::unique_lock lock(mutex_);
  const auto told_to_stop = [this] { return stopping_; };
  while (!any_lost_peer(folder_)) {
    if (wakes_.wait_for(lock, look_again_after, told_to_stop)) return;
  }
  if (wakes_.wait_for(lock, time_for_others, told_to_stop)) return;
  const std::uint64_t one = 1;
  if (write(ready_, &one, sizeof one) < 0) return;  // it is readable already
}

void name_lost_peers(std::vector<Incident>& incidents, const std::string& folder, const replicate::ReplicaMap& map) {
  for (Incident& each : incidents) {
    if (each.kind == "lost_peer") name_one(each, folder, map);
  }
  std::stable_partition(incidents.begin(), incidents.end(), [](const Incident& each) {
    return each.kind != "lost_peer" || text_under(each.whole, "outcome") != "restarted";
  });
}

}  // namespace holdfast::launch
