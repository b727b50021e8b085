#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "simulate/kernel/time.h"
#include "simulate/packet/fault_record.h"

namespace holdfast::simulate {

/// How a run ended.
enum class Ending : std::uint8_t {
  complete,  ///< every message of a finite pattern was delivered, or dropped and counted
  steady,    ///< an infinite pattern reached its steady state
  limit,     ///< the time or the number of packet-hops that was allowed is over
  deadlock,  ///< packets wait for each other in a circle
  stuck,     ///< nothing moves and nothing waits in a circle: a trace waits for a message that nobody sends
  stopped,   ///< the caller's progress function said so
  broken,    ///< a connection gave up after its retries, and with it the program that the traffic is of
};
std::string_view ending_name(Ending ending);

/// One step of the circle of a deadlock: a packet at the head of this lane of this input port waits for the buffer that
/// the output port leads to.
struct BlockedPort {
  std::string node;
  std::uint8_t in_port = 0;
  std::uint8_t in_lane = 0;
  std::uint8_t out_port = 0;
  std::uint8_t out_lane = 0;
  std::uint32_t packets = 0;  ///< that wait in the lane
};

/// How many ports were in each state when the run ended (paper, section IV-D).
struct PortStates {
  std::uint64_t idle = 0;     ///< nothing to send
  std::uint64_t sending = 0;  ///< a packet is on its way out, or may go
  std::uint64_t blocked = 0;  ///< packets wait and there is no space for them at the other end
};

/// Durations of one kind, in picoseconds.
struct Latency {
  std::uint64_t count = 0;
  Time least = 0, median = 0, p99 = 0, most = 0;
  double mean = 0;
};

/// What one run of the simulator found. A value; nothing in it depends on the machine that ran it but `wall_seconds`
/// and `memory_bytes`, which to_json() leaves out unless asked.
struct Record {
  Ending ending = Ending::complete;
  std::uint32_t hosts = 0;
  std::uint32_t switches = 0;
  Time end_ps = 0;            ///< when the run ended
  Time completion_ps = 0;     ///< when the last byte of the last message was in memory; 0 without messages
  Time measured_from_ps = 0;  ///< bandwidth of infinite patterns counts from here
  Time measured_to_ps = 0;

  std::uint64_t messages_sent = 0, messages_delivered = 0;
  std::uint64_t packets_sent = 0, packets_delivered = 0;
  std::uint64_t payload_bytes_sent = 0, payload_bytes_delivered = 0;
  std::uint64_t packet_hops = 0;          ///< one packet crossing one link, host links included
  std::uint64_t dropped_lifetime = 0;     ///< packets at the head of a queue for too long
  std::uint64_t dropped_stalled = 0;      ///< packets for a stalled lane
  std::uint64_t dropped_unroutable = 0;   ///< packets without a forwarding entry or a working link
  std::uint64_t unroutable_messages = 0;  ///< messages without a path record
  std::uint64_t deadlocks_seen = 0;       ///< checks that found a circle, where packets have a lifetime
  std::uint64_t events = 0;

  /// Payload a second into memory, bytes. Finite patterns: all bytes by the completion time, which for an exchange is
  /// the paper's equation 7. Infinite ones: over the measured samples.
  double throughput_bytes_per_s = 0;
  /// The same for one host: the mean, the worst and the best of those that receive.
  double host_mean_bytes_per_s = 0, host_least_bytes_per_s = 0, host_most_bytes_per_s = 0;
  double steady_share = 0;  ///< of the receiving hosts, 0 to 1

  Latency message_latency;  ///< from its creation to the last byte in memory
  Latency packet_latency;   ///< from the start of its fetch to its last byte in memory
  PortStates ports;
  std::vector<BlockedPort> circle;  ///< of a deadlock, in the order of waiting
  FaultRecord faults;               ///< of those during the traffic

  double wall_seconds = 0;
  std::uint64_t memory_bytes = 0;
};

/// {"record": "holdfast.simulation", "version": 1, ...}; with `machine` also the speed and the memory of the run.
nlohmann::ordered_json to_json(const Record& record, bool machine);

/// The record in words, several lines.
std::string to_text(const Record& record);

}  // namespace holdfast::simulate
