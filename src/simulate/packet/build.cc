#include <algorithm>
#include <bit>

#include "simulate/packet/network.h"

namespace holdfast::simulate {
namespace {

/// A width that puts some 4 events into a bucket when every port is busy with packets of half a microsecond; in a large
/// network 8, since prefetching looks ahead by buckets.
Time bucket_for(const fabric::Fabric& fabric) {
  constexpr Time many_ports = 5'000;  // some megabytes of state
  const auto ports = static_cast<Time>(2 * fabric.links().size());
  const Time events = ports < many_ports ? 4 : 8;
  return std::clamp<Time>(events * 500'000 / std::max<Time>(1, ports), 32, 16'384);
}

/// Of every node's crossbar: that of its fastest cable, sped up.
std::vector<Pace> crossbars(const fabric::Fabric& fabric, const Parameters& parameters) {
  std::vector<Pace> paces(fabric.nodes().size());
  for (const fabric::Link& link : fabric.links())
    for (const fabric::PortId end : {link.a, link.b}) {
      Pace& fastest = paces[fabric.port(end).node];
      const Pace pace = parameters.link_pace(link.rate);
      if (fastest.flit_ps == 0 || pace.flit_ps < fastest.flit_ps) fastest = pace;
    }
  for (Pace& pace : paces)
    pace.flit_ps = (pace.flit_ps * 100 + parameters.crossbar_speedup - 1) / parameters.crossbar_speedup;
  return paces;
}

}  // namespace

Network::Network(const fabric::Fabric& fabric, const fabric::Forwarding& forwarding, const Parameters& parameters,
                 const Arbitration& arbitration, Traffic& traffic, const Control& control,
                 std::unique_ptr<Faults> faults)
    : fabric_(fabric),
      forwarding_(forwarding),
      parameters_(parameters),
      arbitration_(arbitration),
      traffic_(traffic),
      control_(control),
      host_ports_(fabric),
      queue_(bucket_for(fabric), 16384),
      watches_(traffic.watches_deliveries()),
      watches_losses_(traffic.watches_losses()),
      latency_(parameters.switch_latency_ns * ps_per_ns),
      update_(parameters.credit_update_ns * ps_per_ns),
      lifetime_(parameters.hoq_life_ps()),
      pcie_(pcie_pace(parameters.pcie_generation, parameters.pcie_lanes)),
      hiccup_(parameters.hiccup_period_ns * ps_per_ns, parameters.hiccup_ns * ps_per_ns),
      arbiter_(arbitration, forwarding.lanes_used > 1 ? fabric.ports().size() : 0),
      statistics_(parameters, host_ports_.count()),
      paths_(&forwarding),
      faults_(std::move(faults)) {
  lanes_n_ = std::max<std::uint32_t>(1, forwarding.lanes_used);
  lane_bits_ = static_cast<std::uint32_t>(std::bit_width(lanes_n_ - 1));
  lane_mask_ = (1U << lane_bits_) - 1;
  std::uint32_t most_ports = 1;
  for (const fabric::Node& node : fabric.nodes()) most_ports = std::max<std::uint32_t>(most_ports, node.port_count);
  stride_ = std::max<std::uint32_t>(6, static_cast<std::uint32_t>(std::bit_width(most_ports)));
  maps_lanes_ = forwarding.has_lane_maps();
  if (maps_lanes_) asking_lanes_ = lane_mask_;  // otherwise a packet has its service level's lane all the way
  words_n_ = (maps_lanes_ ? lanes_n_ << stride_ : 1U << stride_) / 64;
  build_ports();
  build_senders();
  if (parameters.input_queues == InputQueues::output) build_queues_by_output();
  prefetches_ = memory() > 1'000'000 && !by_output();
  next_check_ = parameters.deadlock_check_ns * ps_per_ns;
  next_control_ = std::min({statistics_.sample(), next_check_, control.limit});
  if (faults_ != nullptr) build_faults();
}

void Network::build_ports() {
  const std::size_t count = fabric_.ports().size();
  ports_.resize(count);
  asked_.assign(count / 64 + 1, 0);
  lanes_.reserve((count + host_ports_.count()) << lane_bits_);  // build_senders() adds those that receive
  lanes_.resize(count << lane_bits_);
  outs_.resize(count << lane_bits_);
  peers_.assign(count << lane_bits_, nothing);
  const std::uint32_t flits = flits_of(parameters_.mtu + header_bytes);
  const auto packets_in = [flits](std::uint32_t blocks) { return std::bit_ceil((blocks - 1) / flits + 1); };
  usual_in_ = packets_in(parameters_.input_buffer);  // the oldest of them may be there but for a block
  usual_out_ = packets_in(parameters_.output_buffer);
  slots_.reserve(std::size_t{usual_in_} * ((count + host_ports_.count()) << lane_bits_));
  departures_.reserve(std::size_t{usual_out_} * count);
  if (words_n_ > 1) words_.resize((count << lane_bits_) * words_n_);
  if (lifetime_ != never) head_since_.resize(count << lane_bits_), stalled_until_.resize(count << lane_bits_);
  const std::vector<Pace> crossbar = crossbars(fabric_, parameters_);
  auto no_end = [this](fabric::PortId peer) {  // an adapter's port that takes no part
    return !fabric_.is_switch(fabric_.port(peer).node) && fabric_.port(peer).lid == 0;
  };
  auto narrow = [](Pace pace) { return static_cast<std::uint32_t>(pace.flit_ps); };
  for (fabric::PortId id = 0; id < count; ++id) {
    const fabric::NodeId node = fabric_.port(id).node;
    OutPort& port = ports_[id];
    port.number = fabric_.number_of(id);
    port.is_switch = fabric_.is_switch(node);
    port.cross_flit_ps = narrow(crossbar[node]);
    build_queues(id);
    const fabric::PortId peer = fabric_.peer(id);
    if (peer == fabric::none || no_end(peer)) continue;
    const fabric::Link& link = fabric_.link(fabric_.port(id).link);
    port.link_flit_ps = narrow(parameters_.link_pace(link.rate));
    const double metres = link.length_m > 0 ? link.length_m : parameters_.cable_length;
    port.propagation = static_cast<Time>(metres * static_cast<double>(parameters_.propagation_ps) + 0.5);
    port.peer_cross_flit_ps = narrow(crossbar[fabric_.port(peer).node]);
    build_lanes(id, peer);
  }
}

/// For every port, so that prefetching finds them by number.
void Network::build_queues(fabric::PortId id) {
  ports_[id].departures = departures_.make(usual_out_);
  for (std::uint32_t vl = 0; vl <= lane_mask_; ++vl) lanes_[(id << lane_bits_) + vl].slots = slots_.make(usual_in_);
}

void Network::build_lanes(fabric::PortId id, fabric::PortId peer) {
  const fabric::NodeId node = fabric_.port(id).node;
  const bool is_switch = ports_[id].is_switch;
  for (std::uint32_t vl = 0; vl < lanes_n_; ++vl) {
    OutLane& out = outs_[(id << lane_bits_) + vl];
    out.credits = static_cast<std::int32_t>(parameters_.input_buffer);
    out.turn = static_cast<std::uint16_t>(words_n_ * 64 - 1);
    out.peer = peers_[(id << lane_bits_) + vl] = (peer << lane_bits_) + vl;
    InLane& lane = lanes_[(id << lane_bits_) + vl];
    lane.number = fabric_.number_of(id);
    lane.node_ports = fabric_.node(node).port_count;
    if (!is_switch) {
      lane.out = (id << lane_bits_) + vl;
      lane.looked_up = true;
      continue;
    }
    lane.feeder = (peer << lane_bits_) + vl;
    lane.in_flit_ps = ports_[id].link_flit_ps;
    lane.row = forwarding_.row_of(node);
  }
}

void Network::build_senders() {
  senders_.resize(host_ports_.count());
  queued_flits_.resize(senders_.size() * lanes_n_);
  receiving_ = static_cast<std::uint32_t>(lanes_.size());
  lanes_.resize(receiving_ + (senders_.size() << lane_bits_));
  for (std::uint32_t index = 0; index < senders_.size(); ++index) {
    Sender& sender = senders_[index];
    sender.port = host_ports_.ports[index];
    sender.has_cable = ports_[sender.port].link_flit_ps != 0;
    for (std::uint32_t vl = 0; vl < lanes_n_; ++vl) lanes_[(sender.port << lane_bits_) + vl].feeder = index;
    const fabric::PortId peer = fabric_.peer(sender.port);
    for (std::uint32_t vl = 0; vl <= lane_mask_; ++vl)
      lanes_[receiving_ + (index << lane_bits_) + vl].slots = slots_.make(usual_in_);
    if (peer == fabric::none) continue;
    ports_[peer].host = index;
    for (std::uint32_t vl = 0; vl < lanes_n_; ++vl) {
      const std::uint32_t out = (peer << lane_bits_) + vl;
      outs_[out].peer = peers_[out] = receiving_ + (index << lane_bits_) + vl;
    }
    const fabric::NodeId node = fabric_.port(peer).node;
    if (fabric_.is_switch(node)) sender.row = forwarding_.row_of(node);
  }
}

}  // namespace holdfast::simulate
