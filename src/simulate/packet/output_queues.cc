#include <algorithm>
#include <stdexcept>

#include "simulate/packet/circle.h"
#include "simulate/packet/network.h"

/// Virtual output queues: an input buffer (a lane of a switch's port) with a queue for every output port, so that a
/// head blocks only what goes the same way, and with a bound on how many of its packets may cross at once. Queues share
/// the buffer's blocks, and so the credits; docs/design/simulator.md says how outputs and inputs come to a match.
namespace holdfast::simulate {

void Network::build_queues_by_output() {
  first_queue_ = static_cast<std::uint32_t>(lanes_.size());
  sends_ = parameters_.input_sends;
  queues_of_.resize(receiving_);
  queue_to_.assign(std::size_t{receiving_} << stride_, nothing);
}

/// The queue that a packet for `lid` waits in, which is made when it is needed first. What has no route waits in that
/// of output 0. References to lanes end with it.
std::uint32_t Network::queue_for(std::uint32_t buffer, std::uint32_t lid) {
  const InLane& shared = lanes_[buffer];
  const std::uint8_t number = forwarding_.out_port(shared.row, lid);
  const std::uint32_t output = number <= shared.node_ports ? number : 0;
  std::uint32_t& queue = queue_to_[(std::size_t{buffer} << stride_) + output];
  if (queue != nothing) return queue;
  queue = static_cast<std::uint32_t>(lanes_.size());
  if (queue > index_mask) throw std::length_error("too many queues");
  InLane made = shared;
  made.slots = slots_.make(4);
  made.left = 0;
  made.need = 0;
  made.feeder = buffer;
  lanes_.push_back(made);
  if (lifetime_ != never) head_since_.resize(lanes_.size());
  queues_of_[buffer].queues.push_back(queue);
  return queue;
}

/// The packet that was taken last leaves its queue, and in time the buffer.
void Network::leave_queue(InLane& queue, const Drain& drain) {
  drop_slot(queue);
  InLane& buffer = lanes_[queue.feeder];
  slots_.push(buffer.slots, Slot(drain));
  ++buffer.left;
  if (buffer.need != 0) wake_feeder_of_queues(buffer);
}

// ------------------------------------------------------------------------------------------- so many sends from a
// buffer

void Network::begin_to_send(std::uint32_t queue, const OutPort& port, Time crossed) {
  const std::uint32_t buffer = lanes_[queue].feeder;
  QueuesByOutput& shared = queues_of_[buffer];
  shared.served = port.number;
  if (sends_ == 0) return;
  queue_.push(crossed, event(Kind::freed, buffer));
  if (++shared.sending < sends_) return;
  for (const std::uint32_t other : shared.queues) {  // their requests are withheld, and others may have their turn
    const InLane& lane = lanes_[other];
    if (!lane.waiting) continue;
    clear_request(ports_[lane.out >> lane_bits_], lane.out, request_of(buffer, lane));
    mark(lane.out >> lane_bits_);
  }
}

/// A packet has crossed: the heads may ask again.
void Network::sending_over(std::uint32_t buffer) {
  QueuesByOutput& shared = queues_of_[buffer];
  if (shared.sending-- < sends_) return;
  for (const std::uint32_t queue : shared.queues) {
    const InLane& lane = lanes_[queue];
    if (!lane.waiting) continue;
    set_request<Form::queues>(ports_[lane.out >> lane_bits_], lane.out, request_of(buffer, lane));
    mark(lane.out >> lane_bits_);
  }
}

/// What an output would send now joins the bids for its buffer. An adapter's has no rival.
void Network::bid(fabric::PortId index) {
  OutPort& port = ports_[index];
  Bid made{};
  made.port = index;
  if (lanes_n_ > 1) made.before = arbiter_.state(index);
  if (!decide<Form::queues>(index, port, made.out, made.asking)) return;
  made.buffer = buffer_of(made.asking.lane);
  if (port.is_switch) made.turn = static_cast<std::uint8_t>(port.number - queues_of_[made.buffer].served - 1);
  bids_.push_back(made);
}

/// Outputs bid for buffers until none can send more. A buffer that several want serves them in turn, as far as it may
/// send; the others bid again. (The matching of iSLIP: N. McKeown, The iSLIP Scheduling Algorithm for Input-Queued
/// Switches, 1999; here with as many rounds as it takes.)
void Network::match() {
  while (!marked_.empty()) {
    deciding_.swap(marked_);
    marked_.clear();
    for (const fabric::PortId port : deciding_) ports_[port].marked = false;
    bids_.clear();
    for (const fabric::PortId port : deciding_) bid(port);
    std::sort(bids_.begin(), bids_.end(),
              [](const Bid& a, const Bid& b) { return a.buffer != b.buffer ? a.buffer < b.buffer : a.turn < b.turn; });
    for (const Bid& bid : bids_) {
      OutPort& port = ports_[bid.port];
      if (withheld(bid.asking.lane)) {
        if (lanes_n_ > 1) arbiter_.restore(bid.port, bid.before);
        mark(bid.port);
        continue;
      }
      send<Form::queues>(port, bid.out, bid.asking);
      if (port.lanes_wanted != 0) schedule(bid.port, port, port.cross_free);
    }
  }
}

/// The heads for this lane whose requests are withheld.
void Network::stall_withheld(std::uint32_t out) {
  const OutPort& port = ports_[out >> lane_bits_];
  const fabric::PortId first = (out >> lane_bits_) - port.number;
  const std::uint32_t ports = lanes_[out].node_ports;
  for (std::uint32_t buffer = (first + 1) << lane_bits_; buffer < (first + ports + 1) << lane_bits_; ++buffer) {
    const std::uint32_t queue = queue_to_[(std::size_t{buffer} << stride_) + port.number];
    if (queue == nothing || !lanes_[queue].waiting || lanes_[queue].out != out) continue;
    discard_head(queue, record_.dropped_stalled);
  }
}

// ---------------------------------------------------------------------------------------------------------------
// credits

/// credit_time() where several packets leave the buffer at once: the order of drains says nothing then, and blocks are
/// counted in the order in which they are announced.
Time Network::credit_time_of_queues(const OutPort& port, OutLane& out, std::uint32_t flits) {
  InLane& buffer = lanes_[out.peer];
  auto missing = static_cast<std::int32_t>(flits) - out.credits;
  if (missing <= 0 && buffer.left < 4) return now_;
  returning_.clear();
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < buffer.left; ++i) {
    const Drain drain = slots_.at(buffer.slots, i).drain();
    if (announced<Form::queues>(drain.last(), port) <= now_) {
      out.credits += static_cast<std::int32_t>(drain.flits());
      continue;
    }
    slots_.at(buffer.slots, kept++) = Slot(drain);
    returning_.push_back({announced<Form::queues>(block_leaves<Form::queues>(port, drain, 0), port), drain, 0});
  }
  buffer.left = buffer.slots.count = static_cast<std::uint16_t>(kept);
  missing = static_cast<std::int32_t>(flits) - out.credits;
  if (missing <= 0) return now_;
  while (!returning_.empty()) {
    std::size_t first = 0;
    Time other = never;  // when another drain than the first returns a block
    for (std::size_t i = 1; i < returning_.size(); ++i) {
      const bool earlier = returning_[i].at < returning_[first].at;
      other = earlier ? returning_[first].at : std::min(other, returning_[i].at);
      if (earlier) first = i;
    }
    Returning& next = returning_[first];
    const auto rest = static_cast<std::int32_t>(next.drain.flits() - next.block);
    const auto block_at = [&](std::uint32_t block) {
      return announced<Form::queues>(block_leaves<Form::queues>(port, next.drain, block), port);
    };
    const bool whole = block_at(next.drain.flits() - 1) <= other;
    if (whole && missing <= rest) return block_at(next.block + static_cast<std::uint32_t>(missing) - 1);
    missing -= whole ? rest : 1;
    if (missing == 0) return next.at;
    if (whole || rest == 1) {
      next = returning_.back();
      returning_.pop_back();
    } else {
      next.at = block_at(++next.block);
    }
  }
  return never;
}

/// A packet begins to leave a buffer whose sender waits for credits: they may be there earlier than was known.
void Network::wake_feeder_of_queues(InLane& buffer) {
  const fabric::PortId index = buffer.feeder >> lane_bits_;
  const Time at = credit_time_of_queues(ports_[index], outs_[buffer.feeder], buffer.need);
  outs_[buffer.feeder].lacking = OutLane::none;
  if (at != never && at > now_) schedule(index, ports_[index], at);  // otherwise it has been woken for them
}

// -------------------------------------------------------------------------------------------------------------
// deadlocks

/// A buffer can move while any of its queues can, so that what waits for it need not be on a circle. The buffers that
/// cannot are those that remain when all are taken out that can; among them every way along "waits for" ends in a
/// circle.
std::vector<std::uint32_t> Network::blocked_circle_of_queues() {
  std::vector<bool> lacks(outs_.size()), moves(receiving_, true);
  for (std::uint32_t out = 0; out < outs_.size(); ++out) lacks[out] = lacks_for_good(out);
  const auto stands = [&](std::uint32_t queue) {  // its head waits for a buffer that cannot move
    const InLane& lane = lanes_[queue];
    return lane.waiting && !withheld(queue) && lacks[lane.out] && !moves[outs_[lane.out].peer];
  };
  for (std::uint32_t buffer = 0; buffer < receiving_; ++buffer)
    for (const std::uint32_t queue : queues_of_[buffer].queues)
      if (lanes_[queue].occupied()) moves[buffer] = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t buffer = 0; buffer < receiving_; ++buffer) {
      if (moves[buffer]) continue;
      for (const std::uint32_t queue : queues_of_[buffer].queues)
        if (lanes_[queue].occupied() && !stands(queue)) moves[buffer] = true;
      changed = changed || moves[buffer];
    }
  }
  std::vector<std::uint32_t> waits_for(lanes_.size(), nothing);
  for (std::uint32_t buffer = 0; buffer < receiving_; ++buffer)
    if (!moves[buffer])
      for (const std::uint32_t queue : queues_of_[buffer].queues)
        if (lanes_[queue].occupied()) waits_for[buffer] = outs_[lanes_[queue].out].peer;
  return find_circle(waits_for);
}

/// The queue of this buffer whose head waits for the buffer `next`.
std::uint32_t Network::blocked_queue(std::uint32_t buffer, std::uint32_t next) const {
  for (const std::uint32_t queue : queues_of_[buffer].queues)
    if (lanes_[queue].waiting && outs_[lanes_[queue].out].peer == next) return queue;
  return buffer;
}

}  // namespace holdfast::simulate
