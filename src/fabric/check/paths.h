#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/tables/forwarding.h"

namespace holdfast::fabric {

/// Why a pair of adapters that cables connect has no route.
enum class LossReason : std::uint8_t {
  dropped,       ///< a switch on the way has no table entry, or one that names a dead or missing port
  looping,       ///< the tables lead round in a circle
  misdelivered,  ///< the tables lead to another adapter, or into a switch's management port
  no_level,      ///< there is no service level: path queries are not answered
};
const char* name_of(LossReason loss);

/// One lost pair, and where its way ends (for a loop: a switch on it).
struct LostPair {
  PortId source = none;
  Lid destination = 0;
  LossReason loss = LossReason::dropped;
  NodeId at = none;
};

/// Minimum, maximum, mean and standard deviation (of the whole population) of some counts; all 0 without any.
struct Spread {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  double mean = 0;
  double deviation = 0;
  std::uint64_t count = 0;
};
Spread spread_of(const std::vector<std::uint64_t>& counts);

/// What walking the tables from every adapter port to every LID of every other adapter port found. A pair is a source
/// port and a destination LID; without lmc there are hosts x (hosts - 1) of them.
struct PathReport {
  std::uint64_t endpoints = 0;  ///< adapter ports with LIDs and a working cable
  std::uint64_t unplugged = 0;  ///< adapter ports with LIDs but without one: their pairs are not counted
  std::uint64_t pairs = 0;
  std::uint64_t routed = 0;
  std::uint64_t disconnected = 0;   ///< no cables lead there: no routing can help
  std::uint64_t lost[4] = {};       ///< by LossReason; pairs = routed + disconnected + all of these
  std::uint64_t switches_lost = 0;  ///< (adapter port, switch LID) that cables connect and tables do not
  std::vector<LostPair> examples;   ///< the first few lost pairs, by destination

  std::vector<std::uint64_t> hops;           ///< routed pairs by switch-to-switch links on their way
  std::vector<std::uint64_t> port_routes;    ///< by PortId: routes that leave the switch by it; 0 for other ports
  std::vector<std::uint64_t> switch_routes;  ///< by row: routes that pass the switch
  /// Routes by working switch-to-switch channel (one direction of a link): the edge forwarding index is `max`
  /// (M. Heydemann, J. Meyer, D. Sotteau, "On Forwarding Indices of Networks", 1989; the paper's equation 4).
  Spread index;

  std::uint64_t lost_pairs() const { return lost[0] + lost[1] + lost[2] + lost[3]; }
  bool complete() const { return lost_pairs() == 0 && disconnected == 0 && unplugged == 0; }
  double mean_hops() const;
};

/// Walks all pairs. Time: switches x LIDs, shared by `threads` threads (0: all of the machine); the result does not
/// depend on how many. Tables whose fabric lost links are walked as they are: what they lead to is dropped.
PathReport check_paths(const Fabric& fabric, const Forwarding& tables, unsigned threads = 0);

/// Only the number of pairs that are not routed (lost or disconnected, and those of adapters that lost their cable,
/// against the adapters that have a LID). For thousands of damaged copies of one fabric; single-threaded.
std::uint64_t count_unrouted(const Fabric& fabric, const Forwarding& tables);

/// The ports of switch-to-switch links that carry the most routes, and the switches that do: the first `count` of each
/// with the most, ties by id.
std::vector<PortId> busiest_ports(const Fabric& fabric, const PathReport& report, std::size_t count);
std::vector<NodeId> busiest_switches(const Forwarding& tables, const PathReport& report, std::size_t count);

}  // namespace holdfast::fabric
