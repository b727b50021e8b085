#pragma once

#include <cstdint>
#include <string_view>

#include "core/status/status.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric::opensm {

/// What the plugin in OpenSM (tap.c) saw of one routing.
struct Snapshot {
  Forwarding forwarding;
  std::int64_t routing_cpu_ns = 0;   ///< CPU time of the engine alone: lid matrices and tables, nothing sent
  std::int64_t routing_wall_ns = 0;  ///< the same on the clock
  std::uint64_t memory_bytes = 0;    ///< largest resident size of OpenSM so far
};

/// Reads a snapshot file of tap.c against the fabric that OpenSM was shown, whose LIDs it was told to keep.
///
/// Little endian, packed:
///   "HFTAP001"; routing_cpu_ns, routing_wall_ns, memory_bytes (u64); ports, switches (u32); has_levels, has_lane_maps
///   (u8); 6 bytes 0
///   ports times: node GUID (u64), LID (u16), port number, LMC (u8)
///   switches times: GUID (u64), largest LID (u16), external ports (u8), 0; a byte a LID from 0 on: the port out
///   if has_levels: the adapters' LIDs in the order of the ports, squared: the service level from one to the other
///   if has_lane_maps: by switch, port in (from 0), port out (from 1): 16 nibbles, the first the high one: the lane
///   "HFTAPEND"
///
/// Errors (internal): it is cut short, or tells of nodes and LIDs that the fabric does not have.
Result<Snapshot> read_snapshot(std::string_view bytes, const Fabric& fabric);

}  // namespace holdfast::fabric::opensm
