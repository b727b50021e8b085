#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/status/status.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/packet/parameters.h"
#include "simulate/packet/record.h"
#include "simulate/packet/timeline.h"
#include "simulate/packet/traffic.h"

namespace holdfast::simulate {

/// A packet in memory, for tests and for those who want each of them.
struct Delivery {
  std::uint32_t source = 0, destination = 0, tag = 0;
  Time at = 0;
  bool operator==(const Delivery&) const = default;
  auto operator<=>(const Delivery&) const = default;
};

/// How far a run is, for progress bars.
struct Progress {
  Time now = 0;
  std::uint64_t messages_delivered = 0;
  std::uint64_t messages = 0;  ///< in all; 0: not known
  std::uint64_t packet_hops = 0;
  std::uint64_t packets_sent = 0;
  std::uint64_t packets = 0;  ///< likewise
};

/// When a run ends, besides by itself.
struct Control {
  Time limit = never;                               ///< simulated time
  std::uint64_t packet_hops = ~std::uint64_t{0};    ///< work
  bool until_steady = true;                         ///< end an infinite pattern at its steady state
  std::function<bool(const Progress&)> progress{};  ///< called some 10 times a second of computing; false: stop
  std::vector<Delivery>* deliveries = nullptr;      ///< gets every packet, in the order of decisions
  const Timeline* timeline = nullptr;               ///< what happens to the network meanwhile; until_steady is nothing
                                                    ///< then
};

/// Runs one traffic pattern over one network and says what happened. Deterministic: equal arguments give equal records.
/// Runs in the calling thread; any number of runs may go on in parallel over the same fabric and tables.
/// Errors (bad_input): parameters that contradict each other; a lane in use that the arbitration tables leave out; no
/// host; a LID of 2^20 or more; more than 2^27 packets under way; a timeline that check() refuses, or one with queues
/// by output.
Result<Record> simulate(const fabric::Fabric& fabric, const fabric::Forwarding& forwarding,
                        const Parameters& parameters, Traffic& traffic, const Control& control = {});

}  // namespace holdfast::simulate
