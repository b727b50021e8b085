#include "simulate/job/replica_placement.h"

#include <algorithm>
#include <utility>

#include "core/input/text_file.h"

namespace holdfast::simulate::job {
namespace {

/// Which process, replica after replica, has which place.
Result<std::vector<std::uint32_t>> by_map(const std::string& file, std::uint32_t ranks, int degree) {
  const auto text = input::read_text_file(file, "the map of replicas");
  if (!text.ok()) return text.status();
  const auto map = replicate::ReplicaMap::parse(text.value(), file);
  if (!map.ok()) return map.status();
  if (map.value().partial() || map.value().ranks() != static_cast<int>(ranks) || map.value().degree() != degree)
    return Status(Code::bad_input, "reading --place-replicas " + file,
                  "it maps " + std::to_string(map.value().ranks()) + " ranks in " + map.value().degrees_text() +
                      " replicas, the job has " + std::to_string(ranks) + " in " + std::to_string(degree),
                  "a replay takes the same number of replicas for each rank; give a map of those, or --replicas");
  std::vector<std::uint32_t> places;
  for (int replica = 0; replica < degree; ++replica)
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      places.push_back(static_cast<std::uint32_t>(map.value().physical_rank(static_cast<int>(rank), replica)));
  return places;
}

/// In order, each process the first place left on a host that has no replica of its rank; empty where one finds none.
std::vector<std::uint32_t> keep_apart(const std::vector<std::uint32_t>& hosts, std::uint32_t ranks, int degree) {
  std::vector<std::vector<std::uint32_t>> of_rank(ranks);
  std::vector<bool> given(hosts.size(), false);
  std::vector<std::uint32_t> placed;
  std::size_t first = 0;
  for (std::uint32_t process = 0; process < ranks * static_cast<std::uint32_t>(degree); ++process) {
    std::vector<std::uint32_t>& others = of_rank[process % ranks];
    while (first < hosts.size() && given[first]) ++first;
    std::size_t place = first;
    while (place < hosts.size() && (given[place] || std::ranges::find(others, hosts[place]) != others.end())) ++place;
    if (place == hosts.size()) return {};
    given[place] = true;
    others.push_back(hosts[place]);
    placed.push_back(hosts[place]);
  }
  return placed;
}

}  // namespace

ReplicaPlacement parse_replica_placement(const std::string& text) {
  using How = ReplicaPlacement::How;
  if (text == "apart") return {How::apart, {}};
  if (text == "together") return {How::together, {}};
  return {How::map, text};
}

Result<std::vector<std::uint32_t>> place_replicas(const PlacementRules& rules, const ReplicaPlacement& how,
                                                  std::uint32_t ranks, int degree, const fabric::Fabric& fabric,
                                                  std::vector<bool>& taken) {
  if (degree == 1) return place(rules, ranks, fabric, taken);
  const auto processes = ranks * static_cast<std::uint32_t>(degree);
  std::vector<std::uint32_t> order(processes);
  for (std::uint32_t process = 0; process < processes; ++process)
    order[process] = how.how == ReplicaPlacement::How::together
                         ? process % ranks * static_cast<std::uint32_t>(degree) + process / ranks
                         : process;
  if (how.how == ReplicaPlacement::How::map) {
    auto mapped = by_map(how.file, ranks, degree);
    if (!mapped.ok()) return mapped.status();
    order = std::move(mapped).value();
  }
  std::vector<bool> also_taken = taken;
  auto hosts = place(rules, processes, fabric, also_taken);
  if (!hosts.ok()) return hosts.status();
  if (how.how != ReplicaPlacement::How::apart) {
    std::vector<std::uint32_t> placed;
    for (const std::uint32_t place : order) placed.push_back(hosts.value()[place]);
    taken = std::move(also_taken);
    return placed;
  }
  // Where fewer places would do, but on too few hosts, more hosts are taken.
  const std::uint64_t most = places_of(rules, fabric, taken);
  for (std::uint64_t count = processes;; count = std::min<std::uint64_t>(count * 2, most)) {
    also_taken = taken;
    auto more = place(rules, static_cast<std::uint32_t>(count), fabric, also_taken);
    if (!more.ok()) return more.status();
    std::vector<std::uint32_t> placed = keep_apart(more.value(), ranks, degree);
    if (!placed.empty()) {
      for (const std::uint32_t host : placed) taken[host] = true;
      return placed;
    }
    if (count == most) break;
  }
  return Status(Code::bad_input, "placing replicas",
                "the hosts do not suffice to keep the " + std::to_string(degree) + " replicas of every rank apart",
                "give more hosts, or --place-replicas together");
}

}  // namespace holdfast::simulate::job
