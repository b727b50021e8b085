#include "simulate/kernel/event_queue.h"

#include <algorithm>
#include <functional>

namespace holdfast::simulate {

namespace {

/// By insertion: a bucket holds few, and they come nearly sorted by when they were pushed.
void sort_few(std::vector<EventQueue::Entry>& entries) {
  if (entries.size() > 32) return std::sort(entries.begin(), entries.end());
  for (std::size_t end = 1; end < entries.size(); ++end) {
    const EventQueue::Entry moved = entries[end];
    std::size_t at = end;
    for (; at > 0 && entries[at - 1] > moved; --at) entries[at] = entries[at - 1];
    entries[at] = moved;
  }
}

}  // namespace

EventQueue::EventQueue(Time bucket_ps, std::uint32_t buckets) {
  const std::uint64_t width = std::bit_ceil(static_cast<std::uint64_t>(std::clamp<Time>(bucket_ps, 1, Time{1} << 31)));
  const std::uint32_t count = std::bit_ceil(std::max<std::uint32_t>(buckets, 64));
  shift_ = static_cast<unsigned>(std::countr_zero(width));
  mask_ = count - 1;
  heads_.assign(count, no_chunk);
  occupied_.assign(count / 64, 0);
}

std::uint32_t EventQueue::take_chunk(std::uint32_t next) {
  std::uint32_t taken = free_chunk_;
  if (taken == no_chunk) {
    taken = static_cast<std::uint32_t>(chunks_.size());
    chunks_.emplace_back();
  } else {
    free_chunk_ = chunks_[taken].next;
  }
  chunks_[taken].next = next;
  chunks_[taken].count = 0;
  return taken;
}

/// The current bucket, which is sorted already, or beyond the horizon.
void EventQueue::push_elsewhere(Time at, Event event) {
  if (static_cast<std::uint64_t>(at) >> shift_ == current_) {
    const Entry held = entry(at, event);
    ready_.insert(std::upper_bound(ready_.begin() + static_cast<std::ptrdiff_t>(position_), ready_.end(), held), held);
    return;
  }
  far_.push_back({at, event});
  std::push_heap(far_.begin(), far_.end(), std::greater<>());
}

/// The absolute number of the first bucket after the current one that holds anything; all ones when the wheel is empty.
std::uint64_t EventQueue::next_bucket() const {
  const std::uint64_t first = (current_ + 1) & mask_;
  const std::size_t words = occupied_.size();
  std::size_t word = first >> 6;
  std::uint64_t bits = occupied_[word] & (~0ULL << (first & 63));
  for (std::size_t step = 0; step <= words; ++step) {
    if (bits != 0) {
      const std::uint64_t slot = (word << 6) + static_cast<unsigned>(std::countr_zero(bits));
      return current_ + 1 + ((slot - first) & mask_);
    }
    word = (word + 1) % words;
    bits = occupied_[word];
  }
  return ~0ULL;
}

/// Makes the next bucket the current one; false when nothing is pending.
bool EventQueue::load() {
  std::uint64_t bucket = next_bucket();
  if (!far_.empty()) bucket = std::min(bucket, static_cast<std::uint64_t>(far_.front().at) >> shift_);
  if (bucket == ~0ULL) return false;
  current_ = bucket;
  ready_.clear();
  position_ = 0;
  begins_ = true;
  const std::uint32_t slot = static_cast<std::uint32_t>(bucket & mask_);
  for (std::uint32_t at = heads_[slot]; at != no_chunk;) {
    Chunk& chunk = chunks_[at];
    ready_.insert(ready_.end(), chunk.entries, chunk.entries + chunk.count);
    const std::uint32_t next = chunk.next;
    chunk.next = free_chunk_;
    free_chunk_ = at;
    at = next;
  }
  heads_[slot] = no_chunk;
  occupied_[slot >> 6] &= ~(1ULL << (slot & 63));
  while (!far_.empty() && (static_cast<std::uint64_t>(far_.front().at) >> shift_) - current_ <= mask_) {
    const Far near = far_.front();
    std::pop_heap(far_.begin(), far_.end(), std::greater<>());
    far_.pop_back();
    const std::uint64_t home = static_cast<std::uint64_t>(near.at) >> shift_;
    if (home == current_)
      ready_.push_back(entry(near.at, near.event));
    else
      put(home, entry(near.at, near.event));
  }
  sort_few(ready_);
  return true;
}

std::uint64_t EventQueue::bytes() const {
  return heads_.capacity() * sizeof(std::uint32_t) + occupied_.capacity() * 8 + chunks_.capacity() * sizeof(Chunk) +
         far_.capacity() * sizeof(Far) + ready_.capacity() * sizeof(Entry) + instant_.capacity() * sizeof(Event);
}

}  // namespace holdfast::simulate
