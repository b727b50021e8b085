#include "fabric/check/changes.h"

#include <algorithm>
#include <vector>

namespace holdfast::fabric {

Changes compare_tables(const Fabric& fabric, const Forwarding& before, const Forwarding& after) {
  Changes changes;
  const Lid lids = std::min(before.lids(), after.lids());
  std::vector<bool> used(lids, false);
  for (const Port& port : fabric.ports()) {
    for (Lid lid = port.lid; port.lid != 0 && lid < std::min<Lid>(lids, port.lid + (1U << port.lmc)); ++lid)
      used[lid] = true;
  }
  constexpr Lid block_size = 64;
  for (std::uint32_t row = 0; row < before.rows(); ++row) {
    const std::uint64_t changed_so_far = changes.changed;
    Lid last_block = none;
    for (Lid lid = 0; lid < lids; ++lid) {
      if (!used[lid]) continue;
      ++changes.entries;
      if (before.service_level(row, lid, lid) != after.service_level(row, lid, lid) &&
          !before.distinguishes_sources()) {
        ++changes.levels;
      }
      if (before.out_port(row, lid) == after.out_port(row, lid)) continue;
      ++changes.changed;
      if (lid / block_size != last_block) ++changes.blocks;
      last_block = lid / block_size;
    }
    if (changes.changed != changed_so_far) ++changes.switches;
  }
  if (!before.distinguishes_sources() || !after.distinguishes_sources()) return changes;
  for (Lid source = 0; source < lids; ++source) {
    for (Lid lid = 0; used[source] && lid < lids; ++lid) {
      if (used[lid] && before.service_level(0, source, lid) != after.service_level(0, source, lid)) ++changes.levels;
    }
  }
  return changes;
}

}  // namespace holdfast::fabric
