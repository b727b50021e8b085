#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport/engine/host.h"

/// What a process leaves in the folder of its job (rails.counters) so that whoever started the job can say which peer
/// was given up: a file for each endpoint, and one for each peer that an endpoint has given up.
namespace holdfast::transport::ofi {

/// An endpoint as others read of it.
struct EndpointRecord {
  std::uint32_t process = 0;  ///< its number in the job, as its launcher says it
  std::string host;
};

struct LostPeer {
  Outcome outcome = Outcome::unreachable;
  EndpointRecord self;
  std::uint64_t peer_number = 0;     ///< of its address
  std::int64_t waited_ns = 0;        ///< unreachable: how long nothing was acknowledged
  std::uint64_t lost_messages = 0;   ///< that were reported as sent
  std::vector<std::string> rails{};  ///< "udp@eth0 out", one for each
};

/// Errors of these are left alone: the job goes on without, and a line on standard error says what is lost.
void write_endpoint(const std::string& folder, std::uint64_t number, const EndpointRecord& record);
void write_lost_peer(const std::string& folder, const LostPeer& lost);

/// One line for people: what was given up, why, after how long, on which rails.
std::string describe(const LostPeer& lost);

}  // namespace holdfast::transport::ofi
