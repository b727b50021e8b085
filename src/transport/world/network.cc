#include "transport/world/network.h"

#include <algorithm>
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
  Direction& way = direction(rail, from, to);
  way.dead = dead;
  way.loud = loud;
}

void Network::set_longest(unsigned rail, unsigned from, unsigned to, std::size_t bytes) {
  direction(rail, from, to).longest = bytes;
}

void Network::set_keeping(unsigned rail, unsigned from, unsigned to, bool keeping) {
  Direction& way = direction(rail, from, to);
  way.keeping = keeping;
  if (keeping) return;
  for (const auto& leave : std::exchange(way.kept, {})) leave();
}

void Network::heal() {
  for (unsigned way = 0; way < directions_.size(); ++way) {
    set_keeping(way / nodes_ / nodes_, way / nodes_ % nodes_, way % nodes_, false);
    directions_[way] = {};
  }
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
  const RailPlan::Finish finish = traits.finish;
  std::vector<iovec> list(pieces.begin(), pieces.end());
  auto leave = [this, rail, from, life, to, token, finish, list = std::move(list),
                packet = std::move(packet)]() mutable {
    Port& sender = ports_[rail * nodes_ + from];
    --sender.queued;
    if (finish == RailPlan::Finish::later && ear_.alive(from, life)) {
      // An adapter reads memory when the packet leaves: the headers must be as they were, and nothing freed.
      std::vector<std::byte> now = collect(list);
      if (!std::equal(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(list[0].iov_len), packet.begin())) {
        ear_.complain("the headers of a pending put were changed");
      }
      packet = std::move(now);
    }
    if (finish != RailPlan::Finish::at_once && ear_.alive(from, life)) {
      const Direction& way_now = direction(rail, from, to);
      ear_.put_done(from, life, token, !(way_now.dead && way_now.loud));
    }
    depart(rail, from, to, std::move(packet));
    if (std::exchange(sender.refused, false)) ear_.ready(from, rail);
  };
  queue_.at(port.free_ns, [this, rail, from, to, leave = std::move(leave)]() mutable {
    Direction& way_now = direction(rail, from, to);
    if (way_now.keeping) {
      way_now.kept.emplace_back(std::move(leave));
    } else {
      leave();
    }
  });
  switch (finish) {
    case RailPlan::Finish::at_once:
      return Put::done;
    case RailPlan::Finish::later:
      return Put::pending;
    case RailPlan::Finish::taken:
      return Put::taken;
  }
  return Put::done;
}

void Network::depart(unsigned rail, unsigned from, unsigned to, std::vector<std::byte> packet) {
  const LinkPlan& link = plan_.rails[rail].link;
  const Direction& way = direction(rail, from, to);
  if (way.dead || (way.longest > 0 && packet.size() > way.longest) || happens(link.loss)) return;
  const unsigned copies = happens(link.duplication) ? 2 : 1;
  for (unsigned copy = 0; copy < copies; ++copy) {
    std::vector<std::byte> arriving = packet;
    if (happens(link.corruption)) spoil(arriving, plan_.rails[rail].checksum.value_or(plan_.options.checksum));
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
void Network::spoil(std::vector<std::byte>& packet, integrity::Checksum checksum) {
  if (packet.empty()) return;
  // A checksum is given what it promises to see. The plain sum sees any one bit, and two that cancel each other not;
  // Fletcher's any two, and three not when they cancel and are equally far apart (-16, +32, -16 in words 46, 52, 58).
  const bool one_bit = checksum == integrity::Checksum::sum;
  const std::uint64_t most_flips = checksum == integrity::Checksum::fletcher64 ? 2 : 3;
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
