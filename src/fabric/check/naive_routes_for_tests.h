#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

/// What the checks say, worked out again in the plainest way for small fabrics: every pair's way is walked hop by hop
/// on the fabric itself, and cycles are sought by taking away what nothing waits for. For tests only.
namespace holdfast::fabric::naive {

/// (port that a packet leaves a switch by, virtual lane).
using Buffer = std::pair<PortId, unsigned>;

struct Way {
  bool arrives = false;
  std::vector<Buffer> buffers;  ///< of switch-to-switch links
};

inline Way walk(const Fabric& fabric, const Forwarding& tables, PortId source, Lid lid, PortId destination) {
  Way way;
  PortId in = fabric.peer(source);
  if (in == none) return way;
  const std::uint32_t first_row = tables.row_of(fabric.port(in).node);
  const std::uint8_t level = tables.service_level(first_row, fabric.port(source).lid, lid);
  if (level == Forwarding::no_path) return way;
  for (std::size_t hops = 0; hops <= fabric.nodes().size(); ++hops) {
    const NodeId node = fabric.port(in).node;
    if (!fabric.is_switch(node)) {
      way.arrives = in == destination;
      return way;
    }
    const std::uint8_t out = tables.out_port(tables.row_of(node), lid);
    if (out == Forwarding::no_port || out == 0 || out > fabric.node(node).port_count) return way;
    const PortId leaving = fabric.port_of(node, out);
    const PortId far = fabric.peer(leaving);
    if (far == none) return way;
    if (fabric.is_switch(fabric.port(far).node)) {
      way.buffers.emplace_back(leaving, tables.lane(tables.row_of(node), fabric.number_of(in), out, level));
    }
    in = far;
  }
  return way;
}

struct Verdict {
  std::uint64_t pairs = 0;
  std::uint64_t routed = 0;
  std::uint64_t hops = 0;
  std::map<PortId, std::uint64_t> routes;  ///< by port of a switch-to-switch link
  bool deadlock_free = true;
};

inline bool has_cycle(std::map<Buffer, std::set<Buffer>> waits) {
  while (!waits.empty()) {
    std::set<Buffer> wanted;
    for (const auto& [buffer, next] : waits) {
      for (const Buffer& one : next) {
        if (waits.count(one) != 0) wanted.insert(buffer);
      }
    }
    if (wanted.size() == waits.size()) return true;  // everyone waits for someone who waits
    std::map<Buffer, std::set<Buffer>> left;
    for (const Buffer& buffer : wanted) left[buffer] = waits[buffer];
    waits = std::move(left);
  }
  return false;
}

inline Verdict judge(const Fabric& fabric, const Forwarding& tables) {
  Verdict verdict;
  std::map<Buffer, std::set<Buffer>> waits;
  for (PortId source = 0; source < fabric.ports().size(); ++source) {
    for (PortId to = 0; to < fabric.ports().size(); ++to) {
      const bool adapters = !fabric.is_switch(fabric.port(source).node) && !fabric.is_switch(fabric.port(to).node);
      if (source == to || !adapters || fabric.port(source).lid == 0 || fabric.port(to).lid == 0) continue;
      if (fabric.peer(source) == none || fabric.peer(to) == none) continue;
      for (Lid lid = fabric.port(to).lid; lid < fabric.port(to).lid + (1U << fabric.port(to).lmc); ++lid) {
        ++verdict.pairs;
        const Way way = walk(fabric, tables, source, lid, to);
        for (std::size_t i = 1; i < way.buffers.size(); ++i) waits[way.buffers[i - 1]].insert(way.buffers[i]);
        if (!way.arrives) continue;
        ++verdict.routed;
        verdict.hops += way.buffers.size();
        for (const Buffer& buffer : way.buffers) ++verdict.routes[buffer.first];
      }
    }
  }
  verdict.deadlock_free = !has_cycle(std::move(waits));
  return verdict;
}

}  // namespace holdfast::fabric::naive
