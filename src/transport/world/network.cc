#include "transport/world/network.h"

#include <utility>

namespace holdfast::transport {
namespace {

std::vector<std::byte> collect(std::span<const iovec> pieces) {
  std::vector<std::byte> bytes;
  for (const iovec& piece : pieces) {
    const auto* from = static_cast<const std::byte*>(piece.iov_base);
    bytes.insert(bytes.end(), from, from + piece.iov_len);
  }
  return bytes;
}

}  // namespace

Network::Network(const Plan& plan, EventQueue& queue, random::Stream chance, Ear ear)
    : plan_(plan),
      queue_(queue),
      chance_(chance),
      ear_(std::move(ear)),
      nodes_(plan.nodes),
      directions_(plan.rails.size() * plan.nodes * plan.nodes),
      ports_(plan.rails.size() * plan.nodes) {}

void Network::set_dead(unsigned rail, unsigned from, unsigned to, bool dead, bool loud) {
  direction(rail, from, to) = {dead, loud};
}

void Network::heal() {
  for (Direction& each : directions_) each = {};
}

Put Network::put(unsigned rail, unsigned from, unsigned life, unsigned to, std::span<const iovec> pieces,
                 std::uint64_t token) {
  const RailPlan& traits = plan_.rails[rail];
  const Direction& way = direction(rail, from, to);
  Port& port = ports_[rail * nodes_ + from];
  if (way.dead && way.loud) return Put::failed;
  if (port.queued >= traits.queue_packets) {
    port.refused = true;
    return Put::busy;
  }
  std::vector<std::byte> packet = collect(pieces);
  if (packet.size() > traits.most_packet_bytes) ear_.complain("a packet was too long for its rail");
  ear_.overheard(rail, from, to, packet);
  ++packets_;
  ++port.queued;
  port.free_ns = std::max(port.free_ns, queue_.now()) +
                 static_cast<std::int64_t>(packet.size()) * 1000 / traits.link.bytes_per_us + 100;
  const bool pending = traits.pending;
  std::vector<iovec> list(pieces.begin(), pieces.end());
  queue_.at(port.free_ns, [this, rail, from, life, to, token, pending, list = std::move(list),
                           packet = std::move(packet)]() mutable {
    Port& sender = ports_[rail * nodes_ + from];
    --sender.queued;
    if (pending && ear_.alive(from, life)) {
      // An adapter reads memory when the packet leaves: the headers must be as they were, and nothing freed.
      std::vector<std::byte> now = collect(list);
      if (!std::equal(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(list[0].iov_len), packet.begin())) {
        ear_.complain("the headers of a pending put were changed");
      }
      packet = std::move(now);
      const Direction& way_now = direction(rail, from, to);
      ear_.put_done(from, life, token, !(way_now.dead && way_now.loud));
    }
    depart(rail, from, to, std::move(packet));
    if (std::exchange(sender.refused, false)) ear_.ready(from, rail);
  });
  return pending ? Put::pending : Put::done;
}

void Network::depart(unsigned rail, unsigned from, unsigned to, std::vector<std::byte> packet) {
  const LinkPlan& link = plan_.rails[rail].link;
  if (direction(rail, from, to).dead || happens(link.loss)) return;
  const unsigned copies = happens(link.duplication) ? 2 : 1;
  for (unsigned copy = 0; copy < copies; ++copy) {
    std::vector<std::byte> arriving = packet;
    if (happens(link.corruption)) spoil(arriving);
    if (happens(link.truncation) && !arriving.empty()) arriving.resize(chance_.below(arriving.size()));
    std::int64_t when = queue_.now() + link.latency_ns;
    if (link.jitter_ns > 0)
      when += static_cast<std::int64_t>(chance_.below(static_cast<std::uint64_t>(link.jitter_ns)));
    if (happens(link.reordering)) when += 3 * link.latency_ns;
    if (happens(link.delay) || copy == 1) when += static_cast<std::int64_t>(chance_.below(30'000'000));
    queue_.at(when, [this, rail, from, to, arriving = std::move(arriving)] {
      if (!direction(rail, from, to).dead) ear_.arrived(to, rail, arriving);
    });
  }
}

// Any byte, headers too: one bit, some bits, or a run of bytes.
void Network::spoil(std::vector<std::byte>& packet) {
  if (packet.empty()) return;
  // A checksum is given what it promises to see. The plain sum sees any one bit, and two that cancel each other not;
  // Fletcher's any two, and three not when they cancel and are equally far apart (-16, +32, -16 in words 46, 52, 58).
  const bool one_bit = plan_.options.checksum == integrity::Checksum::sum;
  const std::uint64_t most_flips = plan_.options.checksum == integrity::Checksum::fletcher64 ? 2 : 3;
  const std::uint64_t flips = one_bit ? 1 : 1 + chance_.below(most_flips);
  for (std::uint64_t i = 0; i < flips; ++i) {
    const std::size_t at = chance_.below(packet.size());
    packet[at] ^= static_cast<std::byte>(1U << chance_.below(8));
  }
  if (one_bit || !chance_.chance(1, 4)) return;
  const std::size_t begin = chance_.below(packet.size());
  const std::size_t length = 1 + chance_.below(32);
  for (std::size_t at = begin; at < packet.size() && at < begin + length; ++at) {
    packet[at] = static_cast<std::byte>(chance_.next64());
  }
}

}  // namespace holdfast::transport
