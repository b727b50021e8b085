#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"

namespace holdfast::transport {

/// What rails can be of: the names in rails.use. udp is a socket of our own, tcp libfabric's net provider, the others
/// libfabric's providers of the same name.
inline constexpr std::array<std::string_view, 7> rail_kinds = {"tcp", "udp", "shm", "verbs", "efa", "psm2", "sockets"};

/// One rail of a user's list: a kind, and optionally the interface (libfabric's domain) that it goes over.
struct RailSpec {
  std::string kind;       ///< of rail_kinds
  std::string interface;  ///< "eth0"; empty: the first that is no loopback, else the loopback
  bool operator==(const RailSpec&) const = default;
  std::string text() const { return interface.empty() ? kind : kind + "@" + interface; }
};

/// Reads "tcp@eth0,tcp@eth1,udp". Errors: bad_input.
Result<std::vector<RailSpec>> parse_rails(std::string_view text);

}  // namespace holdfast::transport
