#include "fabric/routing/engines/up_down_tables.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "core/parallel/parallel_for.h"
#include "fabric/routing/engines/lanes.h"
#include "fabric/routing/engines/relief.h"

namespace holdfast::fabric {

bool UpDownTables::some_route_turns(const Forwarding& tables, Lid lid) const {
  const ArcTables arcs(graph_, tables);
  std::vector<std::uint8_t> seen(graph_.rows(), 0);  // bit 0: come to by going up, bit 1: by going down
  for (std::uint32_t source = 0; source < graph_.rows(); ++source) {
    if (graph_.sources_at(source) == 0) continue;
    bool down = false;
    std::uint32_t row = source;
    for (std::uint32_t arc = arcs.next(row, lid); arc != none; arc = arcs.next(row, lid)) {
      const std::uint8_t way = down ? 2 : 1;
      if ((seen[row] & way) != 0) break;
      seen[row] |= way;
      if (leads_up(arc) && down) return true;
      down = !leads_up(arc);
      row = graph_.arc(arc).to;
    }
  }
  return false;
}

bool UpDownTables::holds(const Forwarding& tables, unsigned threads) const {
  std::vector<std::uint8_t> up(graph_.rows() * 256U, 0);  // by row * 256 + port
  for (const SwitchGraph::Channel& channel : graph_.channels())
    up[graph_.arc(channel.arc).from * 256U + channel.port] = leads_up(channel.arc) ? 1 : 0;
  std::vector<std::uint8_t> adapter(tables.lids(), 0);
  for (const SwitchGraph::Terminal& terminal : graph_.terminals()) adapter[terminal.lid] = 1;
  std::vector<std::vector<Lid>> turning(
      parallel::thread_count(threads));  // by worker: where an entry down is followed by one up
  parallel::parallel_for(graph_.rows(), 8, threads, [&](unsigned worker, std::size_t begin, std::size_t end) {
    for (auto row = static_cast<std::uint32_t>(begin); row < end; ++row) {
      std::array<std::uint32_t, 256> below;  // by port
      below.fill(none);
      bool any = false;
      for (std::uint32_t id = graph_.first_arc(row); id < graph_.first_arc(row + 1); ++id) {
        const SwitchGraph::Arc& arc = graph_.arc(id);
        if (leads_up(id)) continue;
        any = true;
        for (std::uint32_t i = 0; i < arc.channels; ++i) below[graph_.channels()[arc.first_channel + i].port] = arc.to;
      }
      if (!any) continue;
      const std::uint8_t* table = tables.table(row);
      for (Lid lid = 0; lid < tables.lids(); ++lid) {
        const std::uint32_t next = below[table[lid]];
        if (next != none && adapter[lid] != 0 && up[next * 256U + tables.out_port(next, lid)] != 0)
          turning[worker].push_back(lid);
      }
    }
  });
  std::vector<Lid> lids;
  for (const std::vector<Lid>& some : turning) lids.insert(lids.end(), some.begin(), some.end());
  std::sort(lids.begin(), lids.end());
  lids.erase(std::unique(lids.begin(), lids.end()), lids.end());
  std::atomic<bool> good = true;
  parallel::parallel_for(lids.size(), 16, threads, [&](unsigned /*worker*/, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && good; ++i) {
      if (some_route_turns(tables, lids[i])) good = false;
    }
  });
  return good;
}

bool know_if_up_down(const SwitchGraph& graph, Forwarding& tables, unsigned threads) {
  if (!lies_in_levels(graph)) return false;
  std::vector<std::uint32_t> level = levels_above_adapters(graph);
  if (!UpDownTables(graph, level).holds(tables, threads)) return false;
  tables.know_up_down(std::move(level));
  return true;
}

}  // namespace holdfast::fabric
