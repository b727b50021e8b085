#include <algorithm>

#include "simulate/packet/network.h"

/// Adapters, sending: messages from the traffic, packets over PCI Express, and the traffic's hearing of deliveries.
namespace holdfast::simulate {

std::uint32_t& Network::queued_flits(const Sender& sender) {
  return queued_flits_[static_cast<std::size_t>(&sender - senders_.data()) * lanes_n_ + sender.lane];
}

void Network::ask_again(std::uint32_t index, Time at) {
  Sender& sender = senders_[index];
  sender.state = Sender::State::ready;
  sender.due = at;
  queue_.push(at, event(Kind::host, index));
}

void Network::host_event(std::uint32_t index) {
  Sender& sender = senders_[index];
  if (sender.due != now_) return;
  sender.due = never;
  if (sender.state == Sender::State::fetching && sender.packet != nothing) {
    const Queued packet =
        Queued::make(now_, host_ports_.lids[sender.message.destination], sender.bytes, sender.level, sender.packet);
    sender.packet = nothing;
    queue_to_send((sender.port << lane_bits_) + sender.lane, packet);
  }
  if (sender.state == Sender::State::fetching && sender.has_message && sender.rest == 0) {
    sender.has_message = false;
    traffic_.sent(index, sender.message.tag, now_);
  }
  sender.state = Sender::State::ready;
  begin_fetch(index);
}

/// A packet that an adapter has fetched.
void Network::queue_to_send(std::uint32_t index, const Queued& packet) {
  InLane& lane = lanes_[index];
  const bool first = !lane.occupied();
  slots_.push(lane.slots, Slot(packet));
  if (!first) return;
  lane.head = packet;
  const Time at = forward_time<Form::general>(lane);
  if (at > now_) return queue_.push(at, event(Kind::head, index));
  const fabric::PortId port = faults_ == nullptr ? came_to_head(index) : came_to_head<Form::faulty>(index);
  if (port != fabric::none) mark(port);
}

void Network::begin_fetch(std::uint32_t index) {
  Sender& sender = senders_[index];
  if (!sender.has_message && !begin_message(index)) return;
  const auto payload = static_cast<std::uint32_t>(std::min<std::uint64_t>(sender.rest, parameters_.mtu));
  sender.bytes = payload + header_bytes;
  std::uint32_t& queued = queued_flits(sender);
  if (queued + flits_of(sender.bytes) > parameters_.input_buffer) {
    sender.state = Sender::State::waiting_for_room;
    return;
  }
  queued += flits_of(sender.bytes);
  sender.rest -= payload;
  sender.packet = packets_.take();
  PacketRecord& packet = packets_[sender.packet];
  packet.created = sender.message.created;
  packet.fetched = now_;
  packet.source = index & 0x7fffffff;
  packet.last = sender.rest == 0 ? 1 : 0;
  packet.tag = sender.message.tag;
  packet.message = sender.messages;
  ++in_flight_;
  ++record_.packets_sent;
  sender.state = Sender::State::fetching;
  sender.due = hiccup_.after(now_, pcie_.of(sender.bytes));
  queue_.push(sender.due, event(Kind::host, index));
}

/// True when there is a packet to fetch now. Otherwise the host has been told when to try again.
bool Network::begin_message(std::uint32_t index) {
  Sender& sender = senders_[index];
  Traffic::Message& message = sender.message;
  switch (traffic_.next(index, now_, message)) {
    case Traffic::Answer::none:
      sender.state = Sender::State::silent;
      return false;
    case Traffic::Answer::later:
      ask_again(index, std::max(message.created, now_ + 1));
      sender.state = Sender::State::later;
      return false;
    case Traffic::Answer::send:
      break;
  }
  ++sender.messages;
  ++record_.messages_sent;
  record_.payload_bytes_sent += message.bytes;
  sender.rest = message.bytes;
  sender.has_message = true;
  if (message.destination == index) {
    to_itself(index);
    return false;
  }
  const fabric::Lid lid = host_ports_.lids[message.destination];
  std::uint8_t level = 0;
  if (sender.row != nothing) level = paths_->service_level(sender.row, host_ports_.lids[index], lid);
  if (level == fabric::Forwarding::no_path || !sender.has_cable) {
    ++record_.unroutable_messages;
    if (watches_losses_) traffic_.lost(index, message.tag, now_);
    skip_message(sender, index, 0);
    return false;
  }
  sender.level = level;
  sender.lane = static_cast<std::uint8_t>(level % lanes_n_);
  return true;
}

/// Through memory alone.
void Network::to_itself(std::uint32_t index) {
  Sender& sender = senders_[index];
  const Traffic::Message& message = sender.message;
  const Time end = hiccup_.after(now_, pcie_.of(message.bytes + header_bytes));
  ++record_.messages_delivered;
  record_.payload_bytes_delivered += message.bytes;
  record_.completion_ps = std::max(record_.completion_ps, end);
  statistics_.payload(index, message.bytes, end);
  statistics_.message(end - message.created);
  if (watches_) announce({index, message.tag}, end);
  skip_message(sender, index, message.bytes);
}

/// A message that does not enter the network takes its time on PCI Express all the same.
void Network::skip_message(Sender& sender, std::uint32_t index, std::uint64_t bytes) {
  sender.rest = 0;
  sender.packet = nothing;
  sender.state = Sender::State::fetching;
  sender.due = hiccup_.after(now_, pcie_.of(bytes + header_bytes));
  queue_.push(sender.due, event(Kind::host, index));
}

void Network::announce(const Pending& pending, Time at) {
  if (free_pending_.empty()) {
    free_pending_.push_back(static_cast<std::uint32_t>(pending_.size()));
    pending_.emplace_back();
  }
  const std::uint32_t index = free_pending_.back();
  free_pending_.pop_back();
  pending_[index] = pending;
  queue_.push(at, event(Kind::delivered, index));
}

void Network::delivered_event(std::uint32_t index) {
  const Pending pending = pending_[index];
  free_pending_.push_back(index);
  pending.asked ? traffic_.due(pending.tag, now_) : tell(pending.host, pending.tag);
}

void Network::call_at(Time at, std::uint32_t what) {
  announce({0, what, true}, std::max(at, now_));
}

void Network::ask(std::uint32_t host, Time at) {
  Sender& sender = senders_[host];
  if (sender.state != Sender::State::silent && sender.state != Sender::State::later) return;
  ask_again(host, std::max(at, now_));
  if (at > now_) sender.state = Sender::State::later;  // it may be asked sooner yet
}

/// The traffic hears of a message that is in memory now.
void Network::tell(std::uint32_t receiver, std::uint32_t tag) {
  wake_.clear();
  traffic_.delivered(receiver, tag, now_, wake_);
  for (const std::uint32_t host : wake_) ask(host, now_);
}

}  // namespace holdfast::simulate
