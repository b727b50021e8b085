#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/random/stream.h"
#include "transport/engine/host.h"
#include "transport/world/event_queue.h"
#include "transport/world/plan.h"

namespace holdfast::transport {

/// The rails of a world: packets take time, and are lost, repeated, overtaken, held up, changed and cut by chance.
class Network {
 public:
  /// What the network tells a node. `life` is the one that the packet was put in.
  struct Ear {
    std::function<void(unsigned node, unsigned rail, const std::vector<std::byte>& packet)> arrived;
    std::function<void(unsigned node, unsigned life, std::uint64_t token, bool ok)> put_done;
    std::function<void(unsigned node, unsigned rail)> ready;
    std::function<bool(unsigned node, unsigned life)> alive;
    std::function<void(const char* what)> complain;
    std::function<void(unsigned rail, unsigned from, unsigned to, const std::vector<std::byte>& packet)> overheard;
  };

  Network(const Plan& plan, EventQueue& queue, random::Stream chance, Ear ear);

  Put put(unsigned rail, unsigned from, unsigned life, unsigned to, std::span<const iovec> pieces, std::uint64_t token);

  /// One direction of one rail from now on: `loud` ones say so.
  void set_dead(unsigned rail, unsigned from, unsigned to, bool dead, bool loud);
  /// Packets of it that are longer than this vanish; 0: none.
  void set_longest(unsigned rail, unsigned from, unsigned to, std::size_t bytes);
  /// Its packets leave, and its puts finish, when it keeps no longer.
  void set_keeping(unsigned rail, unsigned from, unsigned to, bool keeping);
  void heal();
  std::uint64_t packets() const { return packets_; }

 private:
  struct Direction {
    bool dead = false;
    bool loud = false;
    bool keeping = false;
    std::size_t longest = 0;
    std::vector<std::function<void()>> kept{};
  };
  struct Port {
    std::int64_t free_ns = 0;
    unsigned queued = 0;
    bool refused = false;
  };

  Direction& direction(unsigned rail, unsigned from, unsigned to) {
    return directions_[(rail * nodes_ + from) * nodes_ + to];
  }
  void depart(unsigned rail, unsigned from, unsigned to, std::vector<std::byte> packet);
  void spoil(std::vector<std::byte>& packet, integrity::Checksum checksum);
  bool happens(std::uint32_t per_million) { return per_million > 0 && chance_.chance(per_million, 1'000'000); }

  const Plan& plan_;
  EventQueue& queue_;
  random::Stream chance_;
  Ear ear_;
  unsigned nodes_;
  std::vector<Direction> directions_;
  std::vector<Port> ports_;
  std::uint64_t packets_ = 0;
};

}  // namespace holdfast::transport
