#include "replicate/launch/plan/placement.h"

#include <algorithm>
#include <numeric>

namespace holdfast::launch {
namespace {

Status no_room(const std::string& wrong, const std::string& remedy) {
  return {Code::bad_input, "placing the processes", wrong, remedy};
}

std::string needs(const replicate::ReplicaMap& map) {
  return std::to_string(map.ranks()) + " ranks x " + map.degrees_text() + " replicas need " +
         std::to_string(map.physical_ranks()) + " slots";
}

/// Hosts for one rank's replicas: the most free ones first, each host once before any is taken twice, in host order.
/// Fewer than `degree` when there is no room, or when hosts may not be shared and there are too few.
std::vector<int> choose(int degree, bool share, std::vector<int>& free) {
  std::vector<int> order(free.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return free[a] > free[b]; });
  std::vector<int> chosen;
  for (bool took = true; took && static_cast<int>(chosen.size()) < degree;) {
    took = false;
    for (int host : order) {
      if (free[host] == 0 || static_cast<int>(chosen.size()) == degree) continue;
      chosen.push_back(host);
      --free[host];
      took = true;
    }
    if (!share) break;
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

Status check_slots(const replicate::ReplicaMap& map, std::span<const Host> hosts) {
  long slots = 0;
  for (const Host& host : hosts) slots += host.slots;
  if (slots >= map.physical_ranks()) return {};
  return no_room(needs(map) + ", but there are " + std::to_string(slots), "use fewer ranks or replicas, or more slots");
}

}  // namespace

Result<Placement> place_in_order(const replicate::ReplicaMap& map, std::span<const Host> hosts) {
  if (Status room = check_slots(map, hosts); !room.ok()) return room;
  Placement placement;
  for (std::size_t host = 0; host < hosts.size(); ++host)
    for (int slot = 0; slot < hosts[host].slots && static_cast<int>(placement.size()) < map.physical_ranks(); ++slot)
      placement.push_back(static_cast<int>(host));
  return placement;
}

int rank_with_replicas_together(const replicate::ReplicaMap& map, std::span<const Host> hosts,
                                const Placement& placement) {
  if (hosts.size() == 1) return -1;
  for (int rank = 0; rank < map.ranks(); ++rank) {
    std::vector<bool> taken(hosts.size());
    for (int replica = 0; replica < map.degree(rank); ++replica) {
      const auto host = static_cast<std::size_t>(placement[map.physical_rank(rank, replica)]);
      if (taken[host]) return rank;
      taken[host] = true;
    }
  }
  return -1;
}

Result<Placement> place(const replicate::ReplicaMap& map, std::span<const Host> hosts, bool colocate) {
  if (map.physical_ranks() == map.ranks()) return place_in_order(map, hosts);  // nobody has replicas: as the MPI would
  if (Status room = check_slots(map, hosts); !room.ok()) return room;
  std::vector<int> free;
  for (const Host& host : hosts) free.push_back(host.slots);
  const long slots = std::accumulate(free.begin(), free.end(), 0L);
  bool share = colocate || hosts.size() == 1;
  Placement placement(map.physical_ranks());
  for (int rank = 0; rank < map.ranks(); ++rank) {
    const int degree = map.degree(rank);
    std::vector<int> chosen = choose(degree, share, free);
    if (static_cast<int>(chosen.size()) < degree)
      return no_room("the " + std::to_string(hosts.size()) + " hosts with " + std::to_string(slots) +
                         " slots cannot keep the " + std::to_string(degree) + " replicas of " +
                         (map.partial() ? "rank " + std::to_string(rank) : "every rank") + " apart",
                     "add hosts, or let replicas share hosts with --colocate");
    for (int replica = 0; replica < degree; ++replica) placement[map.physical_rank(rank, replica)] = chosen[replica];
  }
  return placement;
}

std::string as_host_sequence(const Placement& placement, std::span<const Host> hosts) {
  std::string text;
  for (int host : placement) text += hosts[host].name + "\n";
  return text;
}

std::string as_machine_file(const Placement& placement, std::span<const Host> hosts) {
  std::string text;
  for (std::size_t start = 0; start < placement.size();) {
    std::size_t end = start;
    while (end < placement.size() && placement[end] == placement[start]) ++end;
    text += hosts[placement[start]].name + ":" + std::to_string(end - start) + "\n";
    start = end;
  }
  return text;
}

}  // namespace holdfast::launch
