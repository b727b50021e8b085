#include "simulate/job/in_network.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/status/hint.h"
#include "simulate/collective/simulation.h"

namespace holdfast::simulate::job {
namespace {

constexpr std::uint32_t word_bytes = 8;

collective::Operation operation_of(Operation operation) {
  switch (operation) {
    case Operation::bcast:
      return collective::Operation::broadcast;
    case Operation::reduce:
      return collective::Operation::reduce;
    case Operation::barrier:
      return collective::Operation::barrier;
    default:
      return collective::Operation::allreduce;
  }
}

}  // namespace

InNetwork::InNetwork(const fabric::Fabric& fabric, const Parameters& parameters) : fabric_(fabric), hosts_(fabric) {
  Time slowest = 0;
  for (const fabric::Link& link : fabric.links()) slowest = std::max(slowest, parameters.link_pace(link.rate).flit_ps);
  assumptions_.mtu_bytes = parameters.mtu / word_bytes * word_bytes;
  assumptions_.headers_count = true;
  assumptions_.byte_ps = std::clamp<Time>((slowest + flit_bytes - 1) / flit_bytes, 1, ps_per_us);
  assumptions_.switch_delay_ps = parameters.switch_latency_ns * ps_per_ns;
  assumptions_.cable_delay_ps =
      static_cast<Time>(parameters.cable_length * static_cast<double>(parameters.propagation_ps));
}

bool InNetwork::does(Operation operation) {
  return operation == Operation::allreduce || operation == Operation::reduce || operation == Operation::bcast ||
         operation == Operation::barrier;
}

std::span<const Time> InNetwork::times(Operation operation, const std::vector<std::uint32_t>& hosts,
                                       std::uint64_t bytes, std::uint32_t root) {
  const bool rooted = operation == Operation::reduce || operation == Operation::bcast;
  const auto [entry, is_new] = known_.try_emplace(Key{operation, rooted ? root : 0, bytes, hosts});
  if (!is_new) return entry->second;
  collective::Experiment experiment;
  experiment.scheme = {collective::Protection::retransmission, 1};
  experiment.assumptions = assumptions_;
  experiment.operation = operation_of(bytes == 0 && !rooted ? Operation::barrier : operation);
  experiment.bytes = std::max<std::uint64_t>(1, (bytes + word_bytes - 1) / word_bytes) * word_bytes;
  experiment.host = rooted ? root : 0;
  std::vector<fabric::NodeId> nodes;
  for (const std::uint32_t host : hosts) nodes.push_back(fabric_.port(hosts_.ports[host]).node);
  auto made = collective::Simulation::make(fabric_, nullptr, nodes, experiment);
  if (!made.ok()) return entry->second;
  if (made.value().run({}).complete) entry->second = made.value().host_times();
  return entry->second;
}

Result<bool> read_collectives(std::string_view who) {
  if (who == "mpi" || who == "in-network") return who == "in-network";
  return Status{Code::bad_input, "reading --collectives", "nobody is called '" + std::string(who) + "'",
                did_you_mean(who, std::array<std::string_view, 2>{"mpi", "in-network"}, "take mpi or in-network")};
}

Status check_in_network(bool over_transport, bool fails) {
  if (over_transport)
    return {Code::bad_input, "simulating collectives in the network", "messages go over the transport",
            "the transport has none; take InfiniBand's own connections"};
  if (fails)
    return {Code::bad_input, "simulating collectives in the network", "something fails during the run",
            "let it fail from the start: trees around what fails meanwhile are not in the model"};
  return {};
}

}  // namespace holdfast::simulate::job
