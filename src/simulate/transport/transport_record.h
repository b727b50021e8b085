#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "simulate/kernel/time.h"
#include "simulate/packet/record.h"
#include "transport/engine/counters.h"

namespace holdfast::simulate {

/// What the transport did in a run. The run's own record counts its packets, as messages of the network.
struct TransportRecord {
  std::uint32_t endpoints = 0;
  std::uint64_t messages_sent = 0, messages_delivered = 0;  ///< of the traffic, those inside hosts left out
  std::uint64_t bytes_delivered = 0;
  std::uint64_t messages_inside = 0;  ///< between adapters of one host, and to itself
  Time completion_ps = 0;             ///< when the last message was there
  double goodput_bytes_per_s = 0;     ///< of these messages, over the time that the run's record measured
  Latency latency;                    ///< from its creation to when its receive was over
  transport::Counters engines;        ///< of all endpoints together

  struct Rail {
    std::uint64_t packets = 0, bytes = 0;  ///< given to the network
    std::uint64_t lost_packets = 0, lost_bytes = 0;
  };
  std::vector<Rail> rails;           ///< by number, of all endpoints together
  std::uint64_t packets_struck = 0;  ///< to which faults of hosts did something
  std::uint64_t wrong_messages = 0;  ///< delivered with other bytes than were sent; looked at with such faults only

  /// A peer that an engine has given up, the first of the run, which ended with it.
  struct Loss {
    Time at = 0;
    std::string host, peer;
    std::string outcome;
  };
  std::optional<Loss> loss;

  /// What an adapter gave the network for another one, packets' headers of the network left out, in the order of
  /// adapters (numbers of Hosts).
  struct Flow {
    std::uint32_t from = 0, to = 0;
    std::uint64_t bytes = 0;
    bool operator==(const Flow&) const = default;
  };
  std::vector<Flow> flows;

  std::uint64_t engine_bytes = 0;       ///< of memory, of all engines at the end
  std::uint64_t most_packet_bytes = 0;  ///< of packets that were kept at once
  Time sample_ps = 0;                   ///< length of the samples (at most 4,096) of
  std::vector<std::uint64_t> goodput;   ///< bytes of messages that were delivered, by sample
  std::vector<std::string> assumed;     ///< datagram.* rows that nobody set
};

nlohmann::ordered_json to_json(const TransportRecord& record);

/// Several lines.
std::string to_text(const TransportRecord& record);

}  // namespace holdfast::simulate
