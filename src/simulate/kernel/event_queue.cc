#include "simulate/kernel/event_queue.h"

#include <algorithm>
#include <functional>

namespace holdfast::simulate {

namespace {

constexpr std::size_t network = 8;

constexpr std::uint32_t look_every = 1024;  ///< buckets
constexpr std::uint64_t too_few = 3;        ///< events of a bucket, on average: it should be wider
constexpr std::uint64_t too_many = 32;
constexpr unsigned step_bits = 2;    ///< buckets become four times as wide, or a quarter
constexpr unsigned most_shift = 31;  ///< entries hold 32 bits of the time

inline void put_in_order(EventQueue::Entry& a, EventQueue::Entry& b) {
  const EventQueue::Entry first = a, second = b;
  const bool ordered = first < second;
  a = ordered ? first : second;
  b = ordered ? second : first;
}

/// Sorts 8 entries by a network of 19 comparators (Knuth, The Art of Computer Programming 3, 5.3.4): a bucket's events
/// are in no order that a processor could predict, and this has no branch.
void sort_eight(EventQueue::Entry* at) {
  EventQueue::Entry e0 = at[0], e1 = at[1], e2 = at[2], e3 = at[3], e4 = at[4], e5 = at[5], e6 = at[6], e7 = at[7];
  put_in_order(e0, e2), put_in_order(e1, e3), put_in_order(e4, e6), put_in_order(e5, e7);
  put_in_order(e0, e4), put_in_order(e1, e5), put_in_order(e2, e6), put_in_order(e3, e7);
  put_in_order(e0, e1), put_in_order(e2, e3), put_in_order(e4, e5), put_in_order(e6, e7);
  put_in_order(e2, e4), put_in_order(e3, e5);
  put_in_order(e1, e4), put_in_order(e3, e6);
  put_in_order(e1, e2), put_in_order(e3, e4), put_in_order(e5, e6);
  at[0] = e0, at[1] = e1, at[2] = e2, at[3] = e3, at[4] = e4, at[5] = e5, at[6] = e6, at[7] = e7;
}

/// Sorts what rises and then falls (a bitonic merge; Knuth, 5.3.4).
template <std::size_t count>
inline void merge(EventQueue::Entry* at) {
  constexpr std::size_t half = count / 2;
  for (std::size_t i = 0; i < half; ++i) put_in_order(at[i], at[i + half]);
  if constexpr (half > 1) {
    merge<half>(at);
    merge<half>(at + half);
  }
}

/// `held` has room for 8 entries more than `count`, and for 16.
void sort_bucket(EventQueue::Entry* held, std::size_t count) {
  if (count <= 1) return;
  if (count > 3 * network) return std::sort(held, held + count);
  const std::size_t full = count <= network ? network : 2 * network;
  for (std::size_t i = count; i < full; ++i) held[i] = ~EventQueue::Entry{0};
  sort_eight(held);
  if (count > network) {
    sort_eight(held + network);
    std::reverse(held + network, held + 2 * network);
    merge<2 * network>(held);
  }
  for (std::size_t end = full; end < count; ++end) {
    const EventQueue::Entry moved = held[end];
    std::size_t at = end;
    for (; at > 0 && held[at - 1] > moved; --at) held[at] = held[at - 1];
    held[at] = moved;
  }
}

}  // namespace

EventQueue::EventQueue(Time bucket_ps, std::uint32_t buckets) {
  const std::uint64_t width = std::bit_ceil(static_cast<std::uint64_t>(std::clamp<Time>(bucket_ps, 1, Time{1} << 31)));
  const std::uint32_t count = std::bit_ceil(std::max<std::uint32_t>(buckets, 64));
  shift_ = least_shift_ = static_cast<unsigned>(std::countr_zero(width));
  mask_ = count - 1;
  tops_.assign(count, no_chunk);
  occupied_.assign(count / 64, 0);
  ready_.resize(2 * network);
  instant_.resize(16);
}

/// A chunk without entries that goes before `next`.
EventQueue::Filled EventQueue::take_chunk(Filled next) {
  Filled taken = free_chunk_;
  if (taken == no_chunk) {
    if (chunks_.empty()) chunks_.emplace_back();  // number 0 with no entries is no_chunk
    taken = static_cast<Filled>(chunks_.size() << 3);
    chunks_.emplace_back();
  } else {
    free_chunk_ = chunks_[chunk_of(taken)].next;
  }
  chunks_[chunk_of(taken)].next = next;
  return taken;
}

/// The current bucket, which is sorted already, or beyond the horizon.
void EventQueue::push_elsewhere(Time at, Event event) {
  if (static_cast<std::uint64_t>(at) >> shift_ == current_) {
    ++loaded_events_;
    const Entry held = entry(at, event);
    add_ready(held);
    std::size_t place = ready_n_ - 1;
    for (; place > position_ && ready_[place - 1] > held; --place) ready_[place] = ready_[place - 1];
    ready_[place] = held;
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

/// At the end of the current bucket, behind which there is always room for a whole chunk and for sort_eight().
void EventQueue::add_ready(Entry held) {
  ready_[ready_n_++] = held;
  if (ready_n_ + network > ready_.size()) ready_.resize(2 * ready_.size());
}

/// The current bucket is over: those to come may have another width.
void EventQueue::adapt() {
  const std::uint64_t few = std::uint64_t{loaded_} * too_few, many = std::uint64_t{loaded_} * too_many;
  if (loaded_events_ < few && shift_ + step_bits <= most_shift)
    rescale(shift_ + step_bits);
  else if (loaded_events_ > many && shift_ >= least_shift_ + step_bits)
    rescale(shift_ - step_bits);
  loaded_ = 0;
  loaded_events_ = 0;
}

/// All that is pending goes beyond the horizon, from where load() brings it back.
void EventQueue::rescale(unsigned shift) {
  for (std::uint64_t word = 0; word < occupied_.size(); ++word) {
    for (; occupied_[word] != 0; occupied_[word] &= occupied_[word] - 1) {
      const std::uint64_t slot = word * 64 + static_cast<unsigned>(std::countr_zero(occupied_[word]));
      const std::uint64_t start = (current_ + ((slot - current_) & mask_)) << shift_;
      for (Filled at = tops_[slot]; at != no_chunk;) {
        Chunk& chunk = chunks_[chunk_of(at)];
        for (std::uint32_t i = 0; i < count_of(at); ++i)
          far_.push_back(
              {static_cast<Time>((start & ~0xffffffffULL) | (chunk.entries[i] >> 32)), event_of(chunk.entries[i])});
        const Filled next = chunk.next;
        chunk.next = free_chunk_;
        free_chunk_ = at & ~Filled{7};
        at = next;
      }
      tops_[slot] = no_chunk;
    }
  }
  std::make_heap(far_.begin(), far_.end(), std::greater<>());
  shift_ = shift;
  current_ = static_cast<std::uint64_t>(now_) >> shift_;
}

/// Makes the next bucket the current one; false when nothing is pending.
bool EventQueue::load() {
  if (++loaded_ == look_every || loaded_events_ > look_every * too_many) adapt();
  std::uint64_t bucket = next_bucket();
  if (!far_.empty()) bucket = std::min(bucket, static_cast<std::uint64_t>(far_.front().at) >> shift_);
  if (bucket == ~0ULL) return false;
  current_ = bucket;
  ready_n_ = 0;
  position_ = 0;
  begins_ = true;
  const std::uint32_t slot = static_cast<std::uint32_t>(bucket & mask_);
  for (Filled at = tops_[slot]; at != no_chunk;) {
    Chunk& chunk = chunks_[chunk_of(at)];
    std::copy_n(chunk.entries, per_chunk, ready_.data() + ready_n_);  // all of it, as that is faster than to count
    ready_n_ += count_of(at);
    if (ready_n_ + network > ready_.size()) ready_.resize(2 * ready_.size());
    const Filled next = chunk.next;
    chunk.next = free_chunk_;
    free_chunk_ = at & ~Filled{7};
    at = next;
  }
  tops_[slot] = no_chunk;
  occupied_[slot >> 6] &= ~(1ULL << (slot & 63));
  while (!far_.empty() && (static_cast<std::uint64_t>(far_.front().at) >> shift_) - current_ <= mask_) {
    const Far near = far_.front();
    std::pop_heap(far_.begin(), far_.end(), std::greater<>());
    far_.pop_back();
    const std::uint64_t home = static_cast<std::uint64_t>(near.at) >> shift_;
    if (home == current_)
      add_ready(entry(near.at, near.event));
    else
      put(home, entry(near.at, near.event));
  }
  sort_bucket(ready_.data(), ready_n_);
  loaded_events_ += ready_n_;
  return true;
}

std::uint64_t EventQueue::bytes() const {
  return tops_.capacity() * sizeof(Filled) + occupied_.capacity() * 8 + chunks_.capacity() * sizeof(Chunk) +
         far_.capacity() * sizeof(Far) + ready_.capacity() * sizeof(Entry) + instant_.capacity() * sizeof(Event);
}

}  // namespace holdfast::simulate
