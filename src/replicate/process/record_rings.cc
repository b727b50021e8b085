#include "replicate/process/record_rings.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace holdfast::replicate {

namespace {

constexpr std::size_t cache_line = 64;  ///< bytes of a cache line, and of a cell
constexpr std::size_t bytes_a_receiver = 4UL << 20;
constexpr std::size_t fewest_cells = 64;
constexpr std::size_t most_cells = 16384;
constexpr std::uint16_t skip = 0xffff;  ///< in place of a length: what follows is at the ring's beginning

using Bell = std::atomic<std::uint64_t>;
using Position = std::atomic<std::uint32_t>;
static_assert(Bell::is_always_lock_free && Position::is_always_lock_free);

std::size_t words(std::size_t processes) {
  return (processes + 63) / 64;
}

std::size_t doorbell_bytes(std::size_t processes) {
  return (words(processes) * sizeof(Bell) + cache_line - 1) / cache_line * cache_line;
}

std::uint32_t cells_of(std::size_t processes) {
  const std::size_t share = std::bit_floor(std::max<std::size_t>(bytes_a_receiver / cache_line / processes, 1));
  return static_cast<std::uint32_t>(std::clamp(share, fewest_cells, most_cells));
}

std::size_t ring_bytes(std::size_t processes) {
  const std::size_t cells = cells_of(processes);
  return 2 * cache_line + cells * sizeof(std::uint16_t) + cells * cache_line;
}

std::uint32_t cells_for(std::size_t bytes) {
  return static_cast<std::uint32_t>((bytes + cache_line - 1) / cache_line);
}

/// Positions are counted modulo 2^32, a multiple of every ring's size, and another process may have written any.
std::uint32_t moved(std::uint32_t position, std::uint32_t cells) {
  return static_cast<std::uint32_t>(std::uint64_t{position} + cells);
}
std::uint32_t cells_between(std::uint32_t first, std::uint32_t last) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << 32) + last - first);
}

Bell* doorbell(std::byte* memory, std::size_t processes, int receiver) {
  return reinterpret_cast<Bell*>(memory + static_cast<std::size_t>(receiver) * doorbell_bytes(processes));
}

}  // namespace

struct RecordRings::Ring {
  Position* put;      ///< cells that the sender has filled, from the beginning of the job, modulo 2^32
  Position* taken;    ///< and that the receiver has done with
  Position* detours;  ///< messages that went another way, which the receiver has taken
  std::uint16_t* lengths;
  std::byte* cells;
  std::uint32_t size;
};

std::size_t RecordRings::bytes(int processes) {
  const auto n = static_cast<std::size_t>(processes);
  return n * doorbell_bytes(n) + n * n * ring_bytes(n);
}

RecordRings::RecordRings(std::byte* memory, int processes, int self)
    : memory_(memory),
      processes_(static_cast<std::size_t>(processes)),
      self_(self),
      put_(processes_),
      seen_(processes_),
      detoured_(processes_),
      taken_(processes_),
      pending_(words(processes_)) {}

RecordRings::Ring RecordRings::ring(int from, int to) const {
  const std::size_t index = static_cast<std::size_t>(to) * processes_ + static_cast<std::size_t>(from);
  std::byte* at = memory_ + processes_ * doorbell_bytes(processes_) + index * ring_bytes(processes_);
  const std::uint32_t cells = cells_of(processes_);
  std::byte* lengths = at + 2 * cache_line;
  return {reinterpret_cast<Position*>(at),
          reinterpret_cast<Position*>(at + cache_line),
          reinterpret_cast<Position*>(at + cache_line) + 1,
          reinterpret_cast<std::uint16_t*>(lengths),
          lengths + cells * sizeof(std::uint16_t),
          cells};
}

bool RecordRings::put(int to, std::span<const std::byte> message) {
  const Ring ring = this->ring(self_, to);
  const auto receiver = static_cast<std::size_t>(to);
  if (detoured_[receiver] != 0 && detoured_[receiver] != ring.detours->load(std::memory_order_acquire)) return false;
  std::uint32_t& put = put_[receiver];
  std::uint32_t& seen = seen_[receiver];
  const std::uint32_t cells = cells_for(message.size());
  const std::uint32_t at = put % ring.size;
  const std::uint32_t left_out = at + cells > ring.size ? ring.size - at : 0;
  const std::uint32_t needed = left_out + cells;
  const auto has_room = [&] { return std::uint64_t{cells_between(seen, put)} + needed <= ring.size; };
  if (!has_room()) {
    seen = ring.taken->load(std::memory_order_acquire);
    if (!has_room()) return false;
  }
  if (left_out > 0) ring.lengths[at] = skip;
  const std::uint32_t place = (at + left_out) % ring.size;
  std::memcpy(ring.cells + place * cache_line, message.data(), message.size());
  ring.lengths[place] = static_cast<std::uint16_t>(message.size());
  put = moved(put, needed);
  ring.put->store(put, std::memory_order_release);
  const auto self = static_cast<std::size_t>(self_);
  Bell& bell = doorbell(memory_, processes_, to)[self / 64];
  bell.fetch_or(std::uint64_t{1} << (self % 64), std::memory_order_release);
  return true;
}

void RecordRings::take_detour(int from) {
  ring(from, self_).detours->fetch_add(1, std::memory_order_release);
}

/// Whether any sender may have something.
bool RecordRings::gather() {
  Bell* bell = doorbell(memory_, processes_, self_);
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < pending_.size(); ++w) {
    if (bell[w].load(std::memory_order_relaxed) != 0) pending_[w] |= bell[w].exchange(0, std::memory_order_acquire);
    any |= pending_[w];
  }
  return any != 0;
}

std::optional<RecordRings::Arrived> RecordRings::next_from(int from) {
  const Ring ring = this->ring(from, self_);
  std::uint32_t& taken = taken_[static_cast<std::size_t>(from)];
  const std::uint32_t there = cells_between(taken, ring.put->load(std::memory_order_acquire));
  if (there == 0) return std::nullopt;
  const std::uint32_t at = taken % ring.size;
  const std::uint32_t left_out = ring.lengths[at] == skip ? ring.size - at : 0;
  const std::uint32_t place = (at + left_out) % ring.size;
  const std::size_t length = ring.lengths[place];
  const std::uint32_t cells = cells_for(length);
  const bool sound = there <= ring.size && length > 0 && length <= most_bytes && place + cells <= ring.size &&
                     left_out + cells <= there;
  if (sound) std::memcpy(message_.data(), ring.cells + place * cache_line, length);
  taken = moved(taken, sound ? left_out + cells : there);
  ring.taken->store(taken, std::memory_order_release);
  return Arrived{from, std::span(message_).first(sound ? length : 0)};
}

std::optional<RecordRings::Arrived> RecordRings::next() {
  if (!gather()) return std::nullopt;
  const int processes = static_cast<int>(processes_);
  for (int i = 0; i < processes; ++i) {
    const int from = (turn_ + i) % processes;
    const auto sender = static_cast<std::size_t>(from);
    const std::uint64_t bit = std::uint64_t{1} << (sender % 64);
    if ((pending_[sender / 64] & bit) == 0) continue;
    if (auto arrived = next_from(from)) {
      turn_ = (from + 1) % processes;
      return arrived;
    }
    pending_[sender / 64] &= ~bit;
  }
  return std::nullopt;
}

}  // namespace holdfast::replicate
