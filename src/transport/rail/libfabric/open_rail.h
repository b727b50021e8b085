#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "transport/rail/rail.h"
#include "transport/rail/rail_spec.h"

/// Rails of every kind that this host has, by their names.
namespace holdfast::transport {

/// Opens a rail. `most_packet_bytes` is what the engine would like; a rail may carry less. `node` and `service` (may be
/// empty) are the address and port to bind to. Errors: unavailable, not_found.
Result<std::unique_ptr<Rail>> open_rail(const RailSpec& spec, std::size_t most_packet_bytes, const std::string& node,
                                        const std::string& service);

/// How long packets on a rail are likely to be that cannot be opened now: no longer than it will carry, but on unusual
/// networks.
std::size_t likely_packet_bytes(const RailSpec& spec);

/// The address that a node and a port have on a rail of this kind: what a peer is called by before it is known.
/// Errors: not_found.
Result<std::vector<std::byte>> resolve_on_rail(const RailSpec& spec, const char* node, const char* service);

/// A rail that can be opened on this host.
struct FoundRail {
  RailSpec spec;
  bool loopback = false;
};
/// Every rail that this host offers, in a fixed order: by kind, then as the system lists the interfaces. `kind` empty:
/// of all kinds but sockets, which is libfabric's older tcp.
std::vector<FoundRail> find_rails(std::string_view kind);

}  // namespace holdfast::transport
