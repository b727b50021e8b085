#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/integrity/checksum.h"
#include "core/status/status.h"

namespace holdfast::transport {

/// What rails can be of: the names in rails.use. udp is a socket of our own, tcp libfabric's net provider, the others
/// libfabric's providers of the same name.
inline constexpr std::array<std::string_view, 7> rail_kinds = {"tcp", "udp", "shm", "verbs", "efa", "psm2", "sockets"};

/// One rail of a user's list: a kind, and optionally the interface (libfabric's domain) that it goes over, and the
/// checksum of the payloads that it carries (Open MPI DR, section 3.3: checksums are chosen for each BTL or for all).
struct RailSpec {
  std::string kind;                               ///< of rail_kinds
  std::string interface;                          ///< "eth0"; empty: the first that is no loopback, else the loopback
  std::optional<integrity::Checksum> checksum{};  ///< instead of transport.checksum
  bool operator==(const RailSpec&) const = default;
  /// As parse_rails() reads it.
  std::string text() const;
};

/// Reads "tcp@eth0,udp@eth1/none,shm". Errors: bad_input.
Result<std::vector<RailSpec>> parse_rails(std::string_view text);

}  // namespace holdfast::transport
