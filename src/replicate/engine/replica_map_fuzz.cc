#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "replicate/engine/replica_map.h"

/// Any bytes give a consistent map or an error with a place, never anything else.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using holdfast::replicate::ReplicaMap;
  const auto map = ReplicaMap::parse({reinterpret_cast<const char*>(data), size}, "map");
  if (!map) {
    if (map.status().doing().find("map:") == std::string::npos) std::abort();
    return 0;
  }
  const ReplicaMap& m = map.value();
  for (int physical = 0; physical < m.physical_ranks(); ++physical)
    if (m.physical_rank(m.virtual_rank(physical), m.replica(physical)) != physical) std::abort();
  return 0;
}
