#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "simulate/kernel/line_allocator.h"
#include "simulate/kernel/prefetch.h"
#include "simulate/kernel/time.h"
#include "simulate/packet/parameters.h"

namespace holdfast::simulate {

/// A packet as switches see it, 16 bytes: what lanes hold and hand on.
struct Queued {
  Time ready = 0;          ///< its head's arrival at the port it is in, and that switch's latency; in an adapter: its
                           ///< fetch's end
  std::uint64_t bits = 0;  ///< destination LID 20, bytes on the wire 13, service level 4, number in the book 27

  static constexpr unsigned lid_bits = 20;
  static constexpr unsigned index_bits = 27;
  static Queued make(Time ready, std::uint32_t lid, std::uint32_t bytes, std::uint32_t level, std::uint32_t index) {
    return {ready, std::uint64_t{lid} << 44 | std::uint64_t{bytes} << 31 | std::uint64_t{level} << 27 | index};
  }
  std::uint32_t destination() const { return static_cast<std::uint32_t>(bits >> 44); }
  std::uint32_t bytes() const { return static_cast<std::uint32_t>(bits >> 31) & 0x1fff; }
  std::uint32_t flits() const { return flits_of(bytes()); }
  std::uint32_t level() const { return static_cast<std::uint32_t>(bits >> 27) & 0xf; }
  std::uint32_t index() const { return static_cast<std::uint32_t>(bits) & 0x7ffffff; }
};

/// What only a packet's source and its sink want to know of it.
struct PacketRecord {
  Time created = 0;               ///< its message
  Time fetched = 0;               ///< when its fetch began
  std::uint32_t source : 31 = 0;  ///< host
  std::uint32_t last : 1 = 0;     ///< of its message
  std::uint32_t tag = 0;
  std::uint32_t message = 0;  ///< counts its source's messages
};

/// The packets under way, by number. No allocation once it has grown to the most that were ever under way.
class PacketBook {
 public:
  PacketRecord& operator[](std::uint32_t index) { return records_[index]; }
  const PacketRecord& operator[](std::uint32_t index) const { return records_[index]; }

  /// The number of a new packet. Throws std::length_error beyond 2^27.
  std::uint32_t take() {
    if (free_ == none) return extend();
    const std::uint32_t taken = free_;
    free_ = records_[taken].tag;
    return taken;
  }
  void free(std::uint32_t index) {
    records_[index].tag = free_;
    free_ = index;
  }
  void prefetch(std::uint32_t index) const { prefetch_line(&records_[index]); }
  std::uint64_t bytes() const { return records_.capacity() * sizeof(PacketRecord); }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  std::uint32_t extend() {
    if (records_.size() == std::size_t{1} << Queued::index_bits) throw std::length_error("too many packets under way");
    records_.emplace_back();
    return static_cast<std::uint32_t>(records_.size() - 1);
  }

  std::vector<PacketRecord, LineAllocator<PacketRecord>> records_;
  std::uint32_t free_ = none;  ///< the first of the free ones, chained by `tag`
};

}  // namespace holdfast::simulate
