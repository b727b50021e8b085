#include <algorithm>

#include "simulate/packet/network.h"

/// Adapters with reliable connections (InfiniBand Architecture Specification 1.3, 9.7): every packet has a sequence
/// number; the receiver takes them in order, acknowledges what it took, and complains once of a gap; the sender goes
/// back to the first packet without an acknowledgement when it hears of a gap or when its timer is over, and gives the
/// connection up when that happens too often without progress. Acknowledgements take no bandwidth and are not lost.
namespace holdfast::simulate {

// ------------------------------------------------------------------------------------------------------------- sending

void Network::faulty_host_event(std::uint32_t index) {
  Sender& sender = senders_[index];
  if (sender.due == now_) faults_->active_until = now_;
  if (!reliable()) return host_event(index);
  if (sender.due != now_) return;
  sender.due = never;
  const Fetch& fetch = faults_->fetches[index];
  if (sender.state == Sender::State::fetching && sender.packet != nothing) {
    const Queued packet =
        Queued::make(now_, host_ports_.lids[fetch.destination], sender.bytes, fetch.level, sender.packet);
    sender.packet = nothing;
    queue_to_send((sender.port << lane_bits_) + fetch.lane, packet);
  }
  if (sender.state == Sender::State::fetching && sender.has_message && sender.rest == 0) {
    sender.has_message = false;
    traffic_.sent(index, sender.message.tag, now_);
  }
  sender.state = Sender::State::ready;
  fetch_reliably(index);
}

/// What has to go again goes first, then new messages.
void Network::fetch_reliably(std::uint32_t index) {
  if (fetch_again(index)) return;
  Sender& sender = senders_[index];
  if (!sender.has_message && !begin_message(index)) return;
  const std::uint32_t number = connection_to(index, sender.message.destination);
  Connection& connection = faults_->connections[number];
  if (connection.broken) return skip_broken(index);
  connection.level = sender.level;
  const auto payload = static_cast<std::uint32_t>(std::min<std::uint64_t>(sender.rest, parameters_.mtu));
  if (!begin_packet(index, sender.message.destination, sender.level, payload + header_bytes)) return;
  sender.rest -= payload;
  connection.packets.push_back({sender.message.created, payload, sender.message.tag, sender.rest == 0});
  give_sequence(sender.packet, number, connection.next);
  connection.again = ++connection.next;
}

/// True when the adapter is busy with it, or has no room for it.
bool Network::fetch_again(std::uint32_t index) {
  std::deque<std::uint32_t>& line = faults_->fetches[index].again;
  while (!line.empty()) {
    Connection& connection = faults_->connections[line.front()];
    if (connection.again == connection.next) {
      connection.queued = false;
      line.pop_front();
      continue;
    }
    const Connection::Packet& packet = connection.packets[connection.again - connection.acknowledged];
    if (!begin_packet(index, connection.destination, connection.level, packet.payload + header_bytes)) return true;
    give_sequence(senders_[index].packet, line.front(), connection.again++);
    ++faults_->record.retransmitted;
    return true;
  }
  return false;
}

/// Begins to fetch a packet; false when its lane has no room for it.
bool Network::begin_packet(std::uint32_t index, std::uint32_t destination, std::uint8_t level, std::uint32_t bytes) {
  Sender& sender = senders_[index];
  const auto lane = static_cast<std::uint8_t>(level % lanes_n_);
  std::uint32_t& queued = queued_flits_[std::size_t{index} * lanes_n_ + lane];
  if (queued + flits_of(bytes) > parameters_.input_buffer) {
    sender.state = Sender::State::waiting_for_room;
    return false;
  }
  queued += flits_of(bytes);
  Fetch& fetch = faults_->fetches[index];
  fetch.destination = destination;
  fetch.level = level;
  fetch.lane = lane;
  sender.bytes = bytes;
  sender.packet = packets_.take();
  packets_[sender.packet].fetched = now_;
  packets_[sender.packet].source = index & 0x7fffffff;
  ++in_flight_;
  ++record_.packets_sent;
  sender.state = Sender::State::fetching;
  sender.due = hiccup_.after(now_, pcie_.of(bytes));
  queue_.push(sender.due, event(Kind::host, index));
  return true;
}

void Network::give_sequence(std::uint32_t packet, std::uint32_t number, std::uint64_t sequence) {
  if (packet >= faults_->fates.size()) faults_->fates.resize(2 * std::size_t{packet} + 64);
  faults_->fates[packet].connection = number;
  faults_->fates[packet].sequence = sequence;
}

std::uint32_t Network::connection_to(std::uint32_t host, std::uint32_t destination) {
  const auto number = static_cast<std::uint32_t>(faults_->connections.size());
  const auto [found, made] = faults_->connection_of.try_emplace((std::uint64_t{host} << 32) | destination, number);
  if (made) {
    faults_->connections.emplace_back();
    faults_->connections.back().source = host;
    faults_->connections.back().destination = destination;
  }
  return found->second;
}

/// A message of a connection that has given up.
void Network::skip_broken(std::uint32_t index) {
  ++faults_->record.messages_failed;
  skip_message(senders_[index], index, 0);
}

/// A packet begins to leave, or is dropped because the port is down: the adapter holds it for sent.
void Network::left_adapter(const Queued& packet) {
  if (!reliable() || faults_->timeout == never) return;
  const std::uint32_t number = faults_->fates[packet.index()].connection;
  Connection& connection = faults_->connections[number];
  if (connection.acknowledged == connection.next || connection.deadline != never) return;
  start_timer(number);
}

void Network::start_timer(std::uint32_t number) {
  Connection& connection = faults_->connections[number];
  connection.deadline = faults_->timeout == never ? never : now_ + faults_->timeout;
  if (connection.timer || connection.deadline == never) return;
  connection.timer = true;
  notify(Notice::Kind::timeout, number, 0, connection.deadline);
}

// ----------------------------------------------------------------------------------------------------------- receiving

/// A packet's last byte is in memory, if it is good.
void Network::packet_arrived(std::uint32_t index) {
  const Fate fate = faults_->fates[index];
  FaultRecord& record = faults_->record;
  faults_->active_until = now_;
  if (fate.harm != Harm::none) return forget(index, fate.harm == Harm::cut ? record.lost_cut : record.lost_noise);
  if (fate.host == nothing) return forget(index, record_.dropped_unroutable);
  if (reliable()) {
    accept(index, fate);
  } else {
    const PacketRecord& packet = packets_[index];
    delivered_packet(index, fate.host, packet.tag, fate.bytes - header_bytes);
    if (packet.last != 0 && whole(packet)) delivered_message(fate.host, packet.tag, packet.created);
  }
  --in_flight_;
  packets_.free(index);
}

void Network::accept(std::uint32_t index, const Fate& fate) {
  Connection& connection = faults_->connections[fate.connection];
  FaultRecord& record = faults_->record;
  if (fate.sequence > connection.expected) {
    ++record.out_of_order;
    if (!connection.complained)
      notify(Notice::Kind::missing, fate.connection, connection.expected, now_ + faults_->acknowledgement);
    connection.complained = true;
    return;
  }
  if (fate.sequence < connection.expected) {
    ++record.repeated;
    return notify(Notice::Kind::acknowledged, fate.connection, connection.expected, now_ + faults_->acknowledgement);
  }
  ++connection.expected;
  connection.complained = false;
  notify(Notice::Kind::acknowledged, fate.connection, connection.expected, now_ + faults_->acknowledgement);
  if (connection.broken) return void(++record.late);
  const Connection::Packet packet = connection.packets[fate.sequence - connection.acknowledged];
  delivered_packet(index, fate.host, packet.tag, packet.payload);
  if (packet.last) delivered_message(fate.host, packet.tag, packet.created);
}

void Network::delivered_packet(std::uint32_t index, std::uint32_t host, std::uint32_t tag, std::uint32_t payload) {
  ++record_.packets_delivered;
  record_.payload_bytes_delivered += payload;
  record_.completion_ps = std::max(record_.completion_ps, now_);
  statistics_.packet(now_ - packets_[index].fetched);
  statistics_.payload(host, payload, now_);
  if (control_.deliveries != nullptr) control_.deliveries->push_back({packets_[index].source, host, tag, now_});
  std::vector<std::uint64_t>& goodput = faults_->record.goodput;
  const auto sample = static_cast<std::size_t>(now_ / statistics_.sample());
  if (sample >= goodput.size()) goodput.resize(sample + 1);
  goodput[sample] += payload;
}

void Network::delivered_message(std::uint32_t host, std::uint32_t tag, Time created) {
  ++record_.messages_delivered;
  statistics_.message(now_ - created);
  if (watches_) tell(host, tag);
}

// ----------------------------------------------------------------------------------------------------- acknowledgement

void Network::notify(Notice::Kind kind, std::uint32_t connection, std::uint64_t sequence, Time at) {
  if (faults_->free_notices.empty()) {
    faults_->free_notices.push_back(static_cast<std::uint32_t>(faults_->notices.size()));
    faults_->notices.emplace_back();
  }
  const std::uint32_t index = faults_->free_notices.back();
  faults_->free_notices.pop_back();
  faults_->notices[index] = {kind, connection, sequence};
  queue_.push(at, event(Kind::notice, index));
}

void Network::notice_event(std::uint32_t index) {
  if (index == 0) return;  // control_point() did it
  const Notice notice = faults_->notices[index];
  faults_->free_notices.push_back(index);
  Connection& connection = faults_->connections[notice.connection];
  if (notice.kind == Notice::Kind::timeout) connection.timer = false;
  if (connection.broken) return;
  switch (notice.kind) {
    case Notice::Kind::acknowledged:
      return acknowledged(notice.connection, notice.sequence);
    case Notice::Kind::missing:
      acknowledged(notice.connection, notice.sequence);
      if (connection.acknowledged == connection.next) return;
      ++faults_->record.sequence_errors;
      return send_again(notice.connection);
    case Notice::Kind::timeout:
      return timed_out(notice.connection);
    case Notice::Kind::change:
      return;
  }
}

/// The receiver has everything before this packet.
void Network::acknowledged(std::uint32_t number, std::uint64_t sequence) {
  Connection& connection = faults_->connections[number];
  if (sequence <= connection.acknowledged) return;
  connection.packets.erase(
      connection.packets.begin(),
      connection.packets.begin() + static_cast<std::ptrdiff_t>(sequence - connection.acknowledged));
  connection.acknowledged = sequence;
  connection.again = std::max(connection.again, sequence);
  connection.retries = 0;
  faults_->active_until = now_;
  if (connection.silent_since != never && sequence > connection.silent_at) {
    FaultRecord& record = faults_->record;
    const Time stall = now_ - connection.silent_since;
    ++record.connections_stalled;
    record.total_stall_ps += stall;
    record.longest_stall_ps = std::max(record.longest_stall_ps, stall);
    connection.silent_since = never;
  }
  connection.deadline = never;
  if (connection.acknowledged != connection.next) start_timer(number);
}

void Network::timed_out(std::uint32_t number) {
  Connection& connection = faults_->connections[number];
  if (connection.deadline == never) return;
  if (now_ < connection.deadline) {
    connection.timer = true;
    return notify(Notice::Kind::timeout, number, 0, connection.deadline);
  }
  ++faults_->record.timeouts;
  send_again(number);
}

/// From the first packet that is not acknowledged on; the timer begins with it. Timeouts and complaints have one retry
/// counter, which progress sets back (9.9.2.1).
void Network::send_again(std::uint32_t number) {
  Connection& connection = faults_->connections[number];
  connection.deadline = never;
  if (++connection.retries > faults_->retries) return break_connection(connection);
  connection.again = connection.acknowledged;
  if (!connection.queued) faults_->fetches[connection.source].again.push_back(number);
  connection.queued = true;
  const Sender& sender = senders_[connection.source];
  if (sender.state == Sender::State::silent || sender.state == Sender::State::later) ask_again(connection.source, now_);
}

void Network::break_connection(Connection& connection) {
  connection.broken = true;
  ++faults_->record.connections_broken;
  for (std::size_t i = 0; i < connection.packets.size(); ++i)
    if (connection.packets[i].last && connection.acknowledged + i >= connection.expected)
      ++faults_->record.messages_failed;
  connection.packets.clear();
  connection.acknowledged = connection.again = connection.next;
  faults_->active_until = now_;
  if (watches_) finish(Ending::broken);
}

/// A packet of a reliable connection is lost.
void Network::note_loss(std::uint32_t packet) {
  const Fate& fate = faults_->fates[packet];
  Connection& connection = faults_->connections[fate.connection];
  if (connection.broken || connection.silent_since != never || fate.sequence < connection.acknowledged) return;
  connection.silent_since = now_;
  connection.silent_at = fate.sequence;
}

bool Network::unacknowledged() const {
  return std::any_of(faults_->connections.begin(), faults_->connections.end(),
                     [](const Connection& connection) { return !connection.packets.empty(); });
}

}  // namespace holdfast::simulate
