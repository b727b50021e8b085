#include "simulate/packet/network.h"

/// What happens to packets that will not be delivered: no route, too long at the head of a queue, a stalled lane.
namespace holdfast::simulate {

void Network::forget(std::uint32_t index, std::uint64_t& counter) {
  const PacketRecord& packet = packets_[index];
  if (reliable())
    note_loss(index);
  else if (packet.last != 0)
    message_lost(packet);
  else
    damaged_.insert((std::uint64_t{packet.source} << 32) | packet.message);
  ++counter;
  --in_flight_;
  packets_.free(index);
}

/// False when a packet of this one's message was dropped; unreliable connections drop the message (InfiniBand
/// Architecture Specification 1.3, 9.8). The packet is the last one.
bool Network::whole(const PacketRecord& packet) {
  if (damaged_.empty() || !damaged_.contains((std::uint64_t{packet.source} << 32) | packet.message)) return true;
  message_lost(packet);
  return false;
}

/// Nothing of the message is under way any more, as long as packets do not overtake each other.
void Network::message_lost(const PacketRecord& packet) {
  damaged_.erase((std::uint64_t{packet.source} << 32) | packet.message);
  if (watches_losses_) traffic_.lost(packet.source, packet.tag, now_);
}

/// The head of a switch's input lane drains into nothing, at the crossbar's speed.
void Network::discard_head(std::uint32_t index, std::uint64_t& counter) {
  InLane& lane = lanes_[index];
  if (lane.row == nothing) return discard_at_adapter(index, counter);
  const std::uint32_t buffer = buffer_of(index);
  if (lane.waiting && !withheld(index))
    clear_request(ports_[lane.out >> lane_bits_], lane.out, request_of(buffer, lane));
  const Queued taken = take_head(lane);
  const bool faulty = faults_ != nullptr;
  const Pace in = faulty ? pace_in<Form::faulty>(lane, taken) : lane.in();
  const Crossing crossing =
      cross(now_, taken.bytes(), taken.ready, in, ports_[buffer >> lane_bits_].crossbar(), Pace{}, 0);
  const Drain drain =
      Drain::from_switch(crossing, now_, taken.ready, taken.bytes(), faulty ? number_of_pace<Form::faulty>(taken) : 0);
  lane.free_at = crossing.crossed;
  if (faulty)
    give_back<Form::faulty>(lane, drain);
  else
    is_queue(index) ? leave_queue(lane, drain) : give_back(lane, drain);
  forget(taken.index(), counter);
  if (!lane.occupied()) return;
  faulty ? expect_head<Form::faulty>(index, lane) : expect_head<Form::general>(index, lane);
}

/// The life of a head begins.
void Network::live_on(std::uint32_t index) {
  InLane& lane = lanes_[index];
  head_since_[index] = now_;
  if (lane.timer) return;
  lane.timer = true;
  queue_.push(now_ + lifetime_, event(Kind::timer, index));
}

void Network::lifetime_over(std::uint32_t index) {
  InLane& lane = lanes_[index];
  lane.timer = false;
  if (!lane.waiting) return;
  if (now_ < head_since_[index] + lifetime_) {
    lane.timer = true;
    return queue_.push(head_since_[index] + lifetime_, event(Kind::timer, index));
  }
  const std::uint32_t out = lane.out;
  mark(out >> lane_bits_);
  discard_head(index, record_.dropped_lifetime);
  if (parameters_.vl_stall > 0 && ++outs_[out].drops >= parameters_.vl_stall) stall(out);
}

/// So many drops in a row: for 8 lifetimes the lane drops everything at once.
void Network::stall(std::uint32_t index) {
  OutLane& out = outs_[index];
  out.drops = 0;
  stalled_until_[index] = now_ + 8 * lifetime_;
  while (out.waiting > 0) discard_head(next_asking(index).lane, record_.dropped_stalled);
  if (by_output()) stall_withheld(index);
}

}  // namespace holdfast::simulate
