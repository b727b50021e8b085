#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/tables/forwarding.h"

namespace holdfast::fabric {

/// A virtual lane of a channel (the switch port that packets leave by).
struct LaneOfChannel {
  PortId port = none;
  std::uint8_t lane = 0;
  bool operator==(const LaneOfChannel&) const = default;
};

/// Buffers that can wait for one another in a circle: packets hold the buffer behind each entry and want the next one,
/// the last wants the first.
using CreditLoop = std::vector<LaneOfChannel>;

struct CreditLoopReport {
  std::uint64_t channels = 0;      ///< (channel, lane) pairs that routes between adapters use one after another
  std::uint64_t dependencies = 0;  ///< edges of the channel dependency graph
  unsigned lanes = 0;              ///< how many lanes routes between switches are on
  std::vector<CreditLoop> loops;   ///< one for each strongly connected part of the graph, short ones
  bool none_found() const { return loops.empty(); }
};

/// Whether routes between adapters can deadlock: looks for cycles in the channel dependency graph over all virtual
/// lanes together (W. Dally, C. Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", IEEE
/// ToC C-36(5), 1987: no cycle, no deadlock; and with routing tables fixed, a cycle can be filled by some traffic).
///
/// Every adapter sends to every LID of every other, with its service level, through the SL to VL tables. Lost pairs
/// contribute the part of their way that exists. Management traffic to switches does not count. Strongly connected
/// parts are found by R. Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM J. Comput. 1(2), 1972. Memory:
/// one bit a possible dependency, 35 MB for 50,000 hosts with 8 lanes.
CreditLoopReport check_credit_loops(const Fabric& fabric, const Forwarding& tables, unsigned threads = 0);

/// "lane 0: leaf-1 port 3 -> spine-2 port 7 -> ... -> leaf-1 port 3".
std::string describe(const Fabric& fabric, const CreditLoop& loop);

}  // namespace holdfast::fabric
