#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "simulate/kernel/prefetch.h"
#include "simulate/kernel/time.h"

namespace holdfast::simulate {

/// What is due: a number whose meaning is its user's (a kind in some bits, an index in the others).
using Event = std::uint32_t;

/// The pending events of a simulation, taken instant by instant: everything due at the earliest moment comes at once,
/// so that its user can apply all of an instant's changes before it decides anything (docs/design/simulator.md).
///
/// A timing wheel: buckets of a power of two of picoseconds, sorted when their turn comes; events beyond the wheel's
/// horizon wait in a heap. push() costs O(1), taking O(log of a bucket's events). The order within an instant is the
/// events' own, ascending, so it does not depend on the order of pushes. Where buckets turn out to be nearly empty they
/// become wider, and narrower again when they fill: that changes the time which taking an event costs, and nothing
/// else. No allocation once the pools have grown to the largest number of events that were ever pending. Not
/// thread-safe.
///
///   EventQueue queue(1024, 4096);
///   queue.push(500, 7);
///   while (queue.next_instant()) for (Event event : queue.events()) ... queue.now() ...
class EventQueue {
 public:
  /// `bucket_ps` and `buckets` are rounded up to powers of two; their product is the horizon. Best: a bucket holds some
  /// 10 events, and nearly every event is due within the horizon. bucket_ps at most 2^31, buckets at least 64. Buckets
  /// are never narrower than that.
  EventQueue(Time bucket_ps, std::uint32_t buckets);

  /// Adds an event at or after now(). At now() itself, it comes with the next call of next_instant().
  void push(Time at, Event event) {
    const std::uint64_t bucket = static_cast<std::uint64_t>(at) >> shift_;
    ++pending_;
    if (bucket - current_ - 1 < mask_) {
      put(bucket, entry(at, event));
    } else {
      push_elsewhere(at, event);
    }
  }

  /// Goes to the earliest moment that has events and takes them off; false, and nothing changes, when there are none.
  bool next_instant() {
    if (position_ == ready_n_ && !load()) return false;
    const Entry first = ready_[position_];
    now_ = time_of(first);
    instant_n_ = 0;
    do {
      if (instant_n_ == instant_.size()) instant_.resize(2 * instant_n_);
      instant_[instant_n_++] = event_of(ready_[position_++]);
    } while (position_ < ready_n_ && ready_[position_] >> 32 == first >> 32);
    pending_ -= instant_n_;
    return true;
  }

  /// What next_instant() took, ascending. Valid until the next call of it; push() may be called meanwhile.
  std::span<const Event> events() const { return {instant_.data(), instant_n_}; }

  /// The moment of next_instant(), 0 before the first.
  Time now() const { return now_; }
  std::uint64_t pending() const { return pending_; }
  bool empty() const { return pending_ == 0; }
  std::uint64_t bytes() const;  ///< held by the queue
  Time bucket_ps() const { return Time{1} << shift_; }
  /// Asks the memory for what visit() will read.
  void prefetch(std::uint32_t ahead) const {
    const Filled top = tops_[(current_ + ahead) & mask_];
    if (top != no_chunk) prefetch_line(&chunks_[chunk_of(top)]);
  }

  /// 32 low bits of the time above the event, so that a bucket sorts by one comparison of integers.
  using Entry = std::uint64_t;
  static Event event_of(Entry held) { return static_cast<Event>(held); }
  /// True once after next_instant() has come to another bucket.
  bool bucket_begins() { return std::exchange(begins_, false); }
  /// Calls with every event of the bucket that stands so many places (1 to `buckets` - 1) after the current one, in no
  /// order; for prefetching.
  template <class Visit>
  void visit(std::uint32_t ahead, const Visit& visit_event) const {
    for (Filled at = tops_[(current_ + ahead) & mask_]; at != no_chunk; at = chunks_[chunk_of(at)].next)
      for (std::uint32_t i = 0; i < count_of(at); ++i) visit_event(event_of(chunks_[chunk_of(at)].entries[i]));
  }

 private:
  /// A chunk's number and, in the low three bits, how many entries it has. The count stands beside the number, not in
  /// the chunk, so that an event is put there without waiting for the chunk to come from the memory.
  using Filled = std::uint32_t;
  static constexpr Filled no_chunk = 0;  ///< no chunk: those that are in use have entries
  static std::uint32_t chunk_of(Filled held) { return held >> 3; }
  static std::uint32_t count_of(Filled held) { return held & 7; }

  static constexpr std::uint32_t per_chunk = 7;
  struct alignas(64) Chunk {
    Filled next;
    Entry entries[per_chunk];
  };
  struct Far {
    Time at;
    Event event;
    bool operator>(const Far& other) const { return at > other.at || (at == other.at && event > other.event); }
  };
  static Entry entry(Time at, Event event) { return (static_cast<std::uint64_t>(at) << 32) | event; }
  Time time_of(Entry held) const {
    const auto start = static_cast<std::uint64_t>(current_ << shift_);
    return static_cast<Time>((start & ~0xffffffffULL) | (held >> 32));
  }

  void put(std::uint64_t bucket, Entry held) {
    const auto slot = static_cast<std::uint32_t>(bucket & mask_);
    Filled top = tops_[slot];
    if (((top + 1) & 7) <= 1) {  // empty, or its chunk is full
      top = take_chunk(top);
      occupied_[slot >> 6] |= 1ULL << (slot & 63);
    }
    chunks_[chunk_of(top)].entries[count_of(top)] = held;
    tops_[slot] = top + 1;
  }
  Filled take_chunk(Filled next);
  void push_elsewhere(Time at, Event event);
  std::uint64_t next_bucket() const;
  bool load();
  void add_ready(Entry held);
  void adapt();
  void rescale(unsigned shift);

  unsigned shift_;
  unsigned least_shift_;
  std::uint32_t loaded_ = 0;         // buckets since adapt() looked last
  std::uint64_t loaded_events_ = 0;  // and the events that were in them, or came while it was their turn
  std::uint64_t mask_;
  std::uint64_t current_ = 0;  // absolute number of the bucket in ready_
  Time now_ = 0;
  std::uint64_t pending_ = 0;
  std::size_t position_ = 0;
  bool begins_ = false;
  std::size_t ready_n_ = 0;
  std::vector<Entry> ready_;  // the current bucket in its first ready_n_, sorted; taken up to position_
  std::size_t instant_n_ = 0;
  std::vector<Event> instant_;
  std::vector<Filled> tops_;  // of each bucket's chunks, which are chained
  std::vector<std::uint64_t> occupied_;
  std::vector<Chunk> chunks_;
  Filled free_chunk_ = no_chunk;
  std::vector<Far> far_;  // a heap, earliest first
};

}  // namespace holdfast::simulate
