#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "simulate/packet/flit_reference_for_tests.h"
#include "simulate/packet/hosts.h"
#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/packet/simulate.h"

/// One network through the engine and through the reference.
namespace holdfast::simulate::sample {

/// As QDR, whatever the network has.
inline Parameters qdr_parameters() {
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  return settle(parameters, {});
}

/// Other MTUs, buffers and speeds of switches, drawn one after the other.
inline void vary_switches(random::Stream& draw, Parameters& parameters) {
  static constexpr std::uint32_t mtus[] = {256, 1024, 2048, 2048, 4096};
  parameters.mtu = mtus[draw.below(5)];
  const std::uint32_t flits = flits_of(parameters.mtu + header_bytes);
  parameters.input_buffer = flits + static_cast<std::uint32_t>(draw.below(3 * flits));
  parameters.output_buffer = flits + static_cast<std::uint32_t>(draw.below(2 * flits));
  parameters.crossbar_speedup = 100 + static_cast<std::uint32_t>(draw.below(4) * 37);
  parameters.switch_latency_ns = static_cast<std::int64_t>(draw.below(3) * 70);
}

/// Perhaps slow credits, short lifetimes, lanes that stall.
inline void vary_lifetimes(random::Stream& draw, Parameters& parameters) {
  if (draw.below(2) == 0) parameters.credit_update_ns = static_cast<std::int64_t>(1 + draw.below(400));
  if (draw.below(4) == 0) parameters.hoq_life = static_cast<std::uint32_t>(draw.below(3));
  if (draw.below(2) == 0) parameters.vl_stall = static_cast<std::uint32_t>(draw.below(4));
}

/// The times of 64 bytes, worked out from the signalling rates rather than by link_pace().
inline Time reference_flit_ps(fabric::LinkRate rate) {
  static constexpr double gigabits[] = {2, 4, 8, 10, 14.0625 * 64 / 66, 25, 50, 100};
  return static_cast<Time>(std::ceil(512'000 / (gigabits[static_cast<int>(rate.speed)] * rate.lanes) - 1e-9));
}

struct Compared {
  Record record;
  std::vector<reference::Received> expected;
  std::uint64_t expected_drops = 0;
  std::vector<Delivery> got;
  std::uint64_t flit_events = 0;
};

/// The faults of a run, as the reference takes them. The noise is the only thing that both draw from one stream.
inline void tell_the_reference(reference::FlitNetwork& oracle, const Net& net, const Parameters& parameters,
                               const Timeline& timeline) {
  for (const Timeline::Outage& outage : timeline.outages) oracle.cut(outage.link, outage.down, outage.up);
  for (const Timeline::Write& write : timeline.writes)
    for (fabric::Lid lid = 1; lid < net.tables.lids(); ++lid)
      oracle.reroute(write.at, write.row, lid,
                     write.tables == nullptr ? fabric::Forwarding::no_port : write.tables->out_port(write.row, lid));
  for (const Timeline::Slowness& slow : timeline.slow) {  // no two of one link at a time
    const Time whole = reference_flit_ps(net.fabric.link(slow.link).rate);
    const auto left = static_cast<double>(slow.numerator) / static_cast<double>(slow.denominator);
    oracle.pace(slow.from, slow.link, static_cast<Time>(std::ceil(static_cast<double>(whole) / left - 1e-6)));
    if (slow.to != never) oracle.pace(slow.to, slow.link, whole);
  }
  oracle.limit_hops(static_cast<int>(parameters.hop_limit));
  auto draws = std::make_shared<std::map<fabric::PortId, random::Stream>>();
  oracle.disturb([draws, &net, timeline](fabric::PortId port, int bytes, Time start) {
    double whole = 1;
    for (const Timeline::Noise& noise : timeline.noise)
      if (net.fabric.port(port).link == noise.link && start >= noise.from && start < noise.to)
        whole *= std::pow(1 - noise.bit_error_rate, 8 * bytes);
    if (whole == 1) return false;
    auto at = draws->try_emplace(port, random::Stream(timeline.seed).child("noise").child(port)).first;
    return at->second.uniform() >= whole;
  });
}

inline Compared run_both(const Net& net, const Parameters& parameters, const std::vector<reference::Sent>& messages,
                         const reference::Priorities& priorities = {}, const Timeline* timeline = nullptr) {
  std::vector<Time> flit;
  std::vector<Time> crossbar(net.fabric.nodes().size());
  for (const fabric::Link& link : net.fabric.links())
    flit.push_back(static_cast<Time>(
        std::ceil(static_cast<double>(reference_flit_ps(link.rate)) * parameters.link_slowdown - 1e-6)));
  for (fabric::LinkId id = 0; id < flit.size(); ++id)
    for (const fabric::PortId end : {net.fabric.link(id).a, net.fabric.link(id).b}) {
      Time& at = crossbar[net.fabric.port(end).node];
      if (at == 0 || flit[id] < at) at = flit[id];
    }
  for (Time& at : crossbar)
    at = static_cast<Time>(std::ceil(static_cast<double>(at) * 100 / parameters.crossbar_speedup - 1e-9));
  reference::FlitNetwork oracle(net.fabric, net.tables, parameters, flit, crossbar,
                                pcie_pace(parameters.pcie_generation, parameters.pcie_lanes).flit_ps, priorities);
  if (timeline != nullptr) tell_the_reference(oracle, net, parameters, *timeline);
  ListedTraffic traffic(Hosts(net.fabric).count());
  for (const reference::Sent& message : messages) {
    oracle.send(message);
    traffic.add(message.source, {message.destination, message.tag, message.bytes, message.created});
  }
  Compared both;
  both.expected = oracle.run();
  both.expected_drops = oracle.dropped();
  both.flit_events = oracle.flit_events();
  Control control;
  control.deliveries = &both.got;
  control.timeline = timeline;
  both.record = simulate(net.fabric, net.tables, parameters, traffic, control).value();
  std::sort(both.expected.begin(), both.expected.end());
  std::sort(both.got.begin(), both.got.end());
  return both;
}

inline std::vector<reference::Sent> random_messages(random::Stream draw, std::uint32_t hosts) {
  std::vector<reference::Sent> messages;
  const std::uint64_t burst = draw.below(3);  // all at once, spread, or all to one
  std::vector<Time> clock(hosts);
  for (std::uint64_t count = 20 + draw.below(100); count > 0; --count) {
    const auto source = static_cast<std::uint32_t>(draw.below(hosts));
    auto destination = static_cast<std::uint32_t>(draw.below(hosts));
    if (burst == 2 && draw.below(4) != 0) destination = 0;
    if (destination == source) continue;
    if (burst == 1) clock[source] += static_cast<Time>(draw.below(3'000'000));
    static constexpr std::uint64_t sizes[] = {1, 38, 64, 200, 2048, 2049, 5000, 20480};
    messages.push_back(
        {source, destination, static_cast<std::uint32_t>(messages.size()), sizes[draw.below(8)], clock[source]});
  }
  return messages;
}

}  // namespace holdfast::simulate::sample
