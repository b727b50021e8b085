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
  for (int native = 0; native < m.natives(); ++native)
    if (m.native(m.virtual_rank(native), m.replica(native)) != native) std::abort();
  return 0;
}
