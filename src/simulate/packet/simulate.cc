#include "simulate/packet/simulate.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <stdexcept>

#include "core/memory/available.h"
#include "simulate/packet/arbitration.h"
#include "simulate/packet/network.h"

namespace holdfast::simulate {
namespace {

/// A lane that no entry names would never send.
Status check_lanes(const Arbitration& tables, std::uint8_t lanes) {
  std::uint32_t served = 0;
  for (const auto* table : {&tables.high, &tables.low})
    for (const Arbitration::Entry& entry : *table)
      if (entry.weight > 0) served |= 1U << entry.lane;
  for (std::uint8_t lane = 0; lane < lanes; ++lane)
    if ((served >> lane & 1) == 0)
      return {Code::bad_input, "checking simulate.vl_arbitration",
              "the routes use virtual lane " + std::to_string(lane) + ", which no table serves",
              "give it a weight above 0"};
  return {};
}

/// What Network's build functions will ask for, before they do; it grows little while it runs. The parameters are
/// settled.
Status check_memory(const fabric::Fabric& fabric, const Parameters& parameters, std::uint8_t lanes) {
  const std::uint32_t flits = flits_of(parameters.mtu + header_bytes);
  const std::uint64_t packets = std::bit_ceil((parameters.input_buffer - 1) / flits + 1);
  const std::uint64_t leaving = std::bit_ceil((parameters.output_buffer - 1) / flits + 1);
  const std::uint64_t ports = fabric.ports().size();
  const std::uint64_t inputs = (ports + Hosts(fabric).count()) * std::bit_ceil(lanes);
  const std::uint64_t outputs = ports * std::bit_ceil(lanes);
  if (inputs * packets > std::uint64_t{1} << 32)
    return {Code::bad_input, "simulating",
            std::to_string(inputs) + " lanes of " + std::to_string(packets) + " packets are more than 2^32 places",
            "take a smaller network, or a smaller simulate.input_buffer"};
  std::uint64_t most_ports = 63;  // of a node, for the table of its queues
  for (const fabric::Node& node : fabric.nodes()) most_ports = std::max<std::uint64_t>(most_ports, node.port_count);
  const std::uint64_t queue_table =
      parameters.input_queues == InputQueues::output ? std::bit_ceil(most_ports + 1) * sizeof(std::uint32_t) : 0;
  const std::uint64_t bytes = inputs * (sizeof(InLane) + packets * sizeof(Slot) + queue_table) +
                              outputs * (sizeof(OutLane) + sizeof(std::uint32_t)) +
                              ports * (sizeof(OutPort) + leaving * sizeof(Departure));
  return memory::check_estimate("simulating", bytes, "take a smaller network, or smaller buffers");
}

/// The tables with which a run begins that takes all of these in turn: as many lanes as any of them uses, and maps of
/// lanes if any has them.
fabric::Forwarding changing(const fabric::Forwarding& tables, const Timeline& timeline) {
  fabric::Forwarding live = tables;
  bool maps = live.has_lane_maps();
  for (const Timeline::Write& write : timeline.writes) {
    if (write.tables == nullptr) continue;
    live.lanes_used = std::max(live.lanes_used, write.tables->lanes_used);
    maps = maps || write.tables->has_lane_maps();
  }
  if (maps && !live.has_lane_maps() && live.rows() > 0) {
    fabric::LaneMap same{};
    for (std::uint8_t level = 0; level < same.size(); ++level) same[level] = level;
    live.set_lane_map(0, 0, 0, same);
  }
  return live;
}

}  // namespace

Result<Record> simulate(const fabric::Fabric& fabric, const fabric::Forwarding& forwarding,
                        const Parameters& parameters, Traffic& traffic, const Control& control) {
  if (Status status = check(parameters); !status.ok()) return status;
  fabric::Forwarding live;  // what the tables become, where they change
  if (control.timeline != nullptr) live = changing(forwarding, *control.timeline);
  const std::uint8_t lanes =
      std::max<std::uint8_t>(1, control.timeline == nullptr ? forwarding.lanes_used : live.lanes_used);
  if (lanes > 15)
    return Status{Code::bad_input, "simulating", "the routes use " + std::to_string(lanes) + " virtual lanes",
                  "InfiniBand has 15 for data"};
  auto arbitration = read_arbitration(parameters.vl_arbitration, lanes);
  if (!arbitration.ok()) return arbitration.status();
  if (Status status = check_lanes(arbitration.value(), lanes); !status.ok()) return status;
  for (auto* table : {&arbitration.value().high, &arbitration.value().low})
    std::erase_if(*table, [&](const Arbitration::Entry& entry) { return entry.lane >= lanes; });
  if (Hosts(fabric).count() == 0)
    return Status{Code::bad_input, "simulating", "the fabric has no host with a LID", "add hosts or assign LIDs"};
  if (fabric.top_lid() >> Queued::lid_bits != 0)
    return Status{Code::bad_input, "simulating", "a LID is " + std::to_string(fabric.top_lid()),
                  "the simulator takes LIDs below " + std::to_string(1U << Queued::lid_bits)};
  const Parameters settled = settle(parameters, fabric);
  if (Status status = check_memory(fabric, settled, lanes); !status.ok()) return status;
  std::unique_ptr<Faults> faults;
  if (control.timeline != nullptr) {
    if (settled.input_queues == InputQueues::output)
      return Status{Code::bad_input, "simulating faults during the traffic", "input buffers have a queue by output",
                    "take simulate.input_queues lane"};
    auto timeline = check(*control.timeline, fabric, forwarding, settled);
    if (!timeline.ok()) return timeline.status();
    faults = std::make_unique<Faults>();
    faults->timeline = std::move(timeline).value();
    faults->tables = &live;
  }
  const auto begun = std::chrono::steady_clock::now();
  try {
    Network network(fabric, control.timeline == nullptr ? forwarding : live, settled, arbitration.value(), traffic,
                    control, std::move(faults));
    Record record = network.run();
    record.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return record;
  } catch (const std::length_error& error) {  // packet_book.h
    return Status{Code::bad_input, "simulating", error.what(), "take a smaller network, or smaller buffers"};
  }
}

}  // namespace holdfast::simulate
