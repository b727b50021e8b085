#include "transport/ofi/lost_peer.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/time/duration.h"

namespace holdfast::transport::ofi {
namespace {

using Json = nlohmann::ordered_json;

std::string hexadecimal(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, number);
  return text;
}

/// Whoever reads it while it is written finds all of it or nothing.
void write_whole(const std::string& path, const Json& json) {
  std::ofstream(path + ".new") << json.dump() << "\n";
  std::error_code failed;
  std::filesystem::rename(path + ".new", path, failed);
}

std::string why(const LostPeer& lost) {
  switch (lost.outcome) {
    case Outcome::unreachable:
      return "nothing came back from it for " + time::format_duration(lost.waited_ns) +
             " (transport.unreachable_after)";
    case Outcome::restarted:
      return "it had given this process up, or is another process than before";
    case Outcome::closed:
      return "it closed before everything had arrived";
    case Outcome::canceled:
      return "this process closed before everything had arrived";
    case Outcome::spoiled:
      return "bytes on their way to it changed in this host's memory before they could be sent again: test it";
    default:
      return std::string(name(lost.outcome));
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

void write_endpoint(const std::string& folder, std::uint64_t number, const EndpointRecord& record) {
  if (folder.empty()) return;
  write_whole(folder + "/endpoint-" + hexadecimal(number) + ".json",
              {{"process", record.process}, {"host", record.host}});
}

void write_lost_peer(const std::string& folder, const LostPeer& lost) {
  if (folder.empty()) return;
  const std::string peer = hexadecimal(lost.peer_number);
  const char* job = std::getenv("HOLDFAST_RUN_JOB");  // `holdfast run` believes no other job's incidents
  const Json json = {{"job", job ? job : ""},         {"kind", "lost_peer"},
                     {"message", describe(lost)},     {"process", lost.self.process},
                     {"host", lost.self.host},        {"peer", peer},
                     {"outcome", name(lost.outcome)}, {"why", why(lost)},
                     {"waited_ns", lost.waited_ns},   {"lost_messages", lost.lost_messages},
                     {"rails", joined(lost.rails)}};
  write_whole(folder + "/incident-lost-peer-" + std::to_string(getpid()) + "-" + peer + ".json", json);
}

std::string describe(const LostPeer& lost) {
  std::string text = "process " + std::to_string(lost.self.process) + " on " + lost.self.host + " has given up peer " +
                     hexadecimal(lost.peer_number) + ": " + why(lost);
  if (!lost.rails.empty()) text += "; rails: " + joined(lost.rails);
  if (lost.lost_messages > 0) {
    text += "; " + std::to_string(lost.lost_messages) + " messages that were reported as sent are lost";
  }
  return text;
}

}  // namespace holdfast::transport::ofi
