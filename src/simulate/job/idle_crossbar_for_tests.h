#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "simulate/job/job_record.h"
#include "simulate/job/job_traffic.h"
#include "simulate/job/sample_programs_for_tests.h"
#include "simulate/packet/sample_networks_for_tests.h"
#include "simulate/packet/simulate.h"

/// Programs on an idle crossbar, for tests of this folder.
namespace holdfast::simulate::job::sample {

inline constexpr Time o_send = 2'000'000, o_receive = 3'000'000;
inline constexpr std::uint64_t header = 128;

inline Parameters quiet() {
  Parameters parameters;
  parameters_table().apply_defaults(parameters);
  parameters.hiccup_ns = 0;
  parameters.mtu = 4096;
  parameters.input_buffer = 1024;
  parameters.output_buffer = 1024;
  return settle(parameters, {});
}

inline Protocol slow_protocol() {
  Protocol protocol;
  protocol_table().apply_defaults(protocol);
  protocol.header_bytes = header;
  protocol.send_overhead_ns = o_send / ps_per_ns;
  protocol.receive_overhead_ns = o_receive / ps_per_ns;
  protocol.send_byte_ps = protocol.receive_byte_ps = protocol.reduce_byte_ps = 0;
  protocol.shared_latency_ns = 500;
  return protocol;
}

/// From a message's hand-over to the adapter to its last byte in the other memory, one packet of QDR through one
/// switch: fetched over PCI Express, wire, first flit, latency, first flit through the crossbar, wire, all of it, PCI
/// Express.
inline Time flight(std::uint64_t bytes) {
  const auto wire_bytes = static_cast<Time>(bytes + header + 26);
  const Time wire = 42'700, flit = 16'000, cross = 10'667, latency = 100'000;
  return 250 * wire_bytes + wire + flit + latency + cross + wire + 250 * wire_bytes + 250 * wire_bytes;
}

/// One message from one rank's call to the other's.
inline Time hop(std::uint64_t bytes) {
  return o_send + flight(bytes) + o_receive;
}

struct Played {
  Record network;
  std::vector<JobOutcome> jobs;
  std::vector<Job> given;
  Time end(std::uint32_t rank) const { return jobs[0].ranks[rank].end_ps; }
  Time end() const {
    Time last = 0;
    for (const RankOutcome& rank : jobs[0].ranks) last = std::max(last, rank.end_ps);
    return last;
  }
};

inline Played play(std::vector<Job> jobs, std::uint32_t hosts) {
  const simulate::sample::Net net = simulate::sample::crossbar(hosts);
  JobTraffic traffic(jobs, hosts);
  Played played;
  auto record = simulate(net.fabric, net.tables, quiet(), traffic);
  EXPECT_TRUE(record.ok()) << record.status().message();
  if (record.ok()) played.network = record.value();
  played.jobs = traffic.outcomes();
  played.given = std::move(jobs);
  return played;
}

/// A rank a host.
inline Played play(Program program, const Protocol& protocol = slow_protocol()) {
  Job job{std::move(program), protocol, {}, 1};
  for (std::uint32_t rank = 0; rank < job.program.ranks.size(); ++rank) job.hosts.push_back(rank);
  const auto hosts = static_cast<std::uint32_t>(job.hosts.size());
  return play(std::vector<Job>{std::move(job)}, hosts);
}

}  // namespace holdfast::simulate::job::sample
