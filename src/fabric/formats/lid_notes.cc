#include "fabric/formats/lid_notes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fabric/formats/node_name.h"

namespace holdfast::fabric {
namespace {

constexpr Lid end_of_unicast = 0xC000;

/// The LIDs of a port.
struct LidRange {
  Lid begin = 0;
  Lid end = 0;
  NodeId node = none;
};

/// By their first LIDs.
std::vector<LidRange> lid_ranges(const Fabric& fabric) {
  std::vector<LidRange> ranges;
  for (NodeId id = 0; id < fabric.nodes().size(); ++id) {
    const std::uint32_t from = fabric.is_switch(id) ? 0 : 1;
    const std::uint32_t to = fabric.is_switch(id) ? 0 : fabric.node(id).port_count;
    for (std::uint32_t number = from; number <= to; ++number) {
      const Port& port = fabric.port(fabric.node(id).first_port + number);
      if (port.lid != 0) ranges.push_back({port.lid, port.lid + (Lid{1} << port.lmc), id});
    }
  }
  std::ranges::stable_sort(ranges, {}, &LidRange::begin);
  return ranges;
}

}  // namespace

void note_odd_lids(const Fabric& fabric, Notes& notes) {
  const std::vector<LidRange> ranges = lid_ranges(fabric);
  std::size_t lids = 0;
  LidRange farthest;
  for (const LidRange& range : ranges) {
    if (range.begin < farthest.end)
      notes.add("LID", 0,
                "LID " + std::to_string(range.begin) + " is used twice, by " + node_id(fabric.node(farthest.node)) +
                    " and " + node_id(fabric.node(range.node)));
    if (range.end > farthest.end) farthest = range;
    lids += range.end - range.begin;
  }
  if (lids >= end_of_unicast) return;
  for (const LidRange& range : ranges) {
    if (range.end > end_of_unicast)
      notes.add("multicast LID", 0,
                "LID " + std::to_string(range.end - 1) + " of " + node_id(fabric.node(range.node)) +
                    " is for multicast: those of ports end at 49151");
  }
}

}  // namespace holdfast::fabric
