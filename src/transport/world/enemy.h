#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/random/stream.h"
#include "transport/wire/packet.h"
#include "transport/world/plan.h"

namespace holdfast::transport {

/// Somebody who puts packets on a world's rails that no process has put there. He knows the protocol, who is in the
/// job, how its processes number each other, where their open memory is and what its messages look like, and writes any
/// source address. A stranger knows no more; a reader hears every packet besides, and sends it again, to its receiver
/// or its sender, on this rail or another, changed in a few bits, or with parts of others. What checks of packets need
/// no secret he puts right.
class Enemy {
 public:
  Enemy(const Plan& plan, random::Stream chance) : plan_(plan), chance_(chance) {}

  /// What was put on a rail.
  void hear(unsigned rail, unsigned from, unsigned to, const std::vector<std::byte>& packet);

  struct Packet {
    unsigned rail = 0;
    unsigned from = 0;  ///< who it is to look like it came from
    unsigned to = 0;
    std::vector<std::byte> bytes;
  };
  /// His next packet.
  Packet strike();

 private:
  Packet greeting();
  Packet forgery();
  Packet repetition();
  void add_data(wire::Writer& writer, std::vector<std::byte>& payload);
  void change(std::vector<std::byte>& bytes);
  std::uint64_t guess();
  unsigned node() { return static_cast<unsigned>(chance_.below(plan_.nodes)); }
  unsigned rail() { return static_cast<unsigned>(chance_.below(plan_.rails.size())); }

  const Plan& plan_;
  random::Stream chance_;
  std::deque<Packet> heard_;
};

}  // namespace holdfast::transport
