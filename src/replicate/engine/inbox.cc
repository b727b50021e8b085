#include "replicate/engine/inbox.h"

#include <algorithm>
#include <utility>

namespace holdfast::replicate {

Arrival& Stream::push(Arrival arrival) {
  return arrivals_.emplace_back(std::move(arrival));
}

Arrival* Stream::find(std::uint64_t ordinal) {
  const std::uint64_t index = ordinal - base_;
  return index < arrivals_.size() ? &arrivals_[index] : nullptr;
}

void Stream::take(std::uint64_t ordinal) {
  Arrival* arrival = find(ordinal);
  if (!arrival) return;
  arrival->taken = true;
  arrival->copy.reset();
  while (!arrivals_.empty() && arrivals_.front().taken) {
    taken_up_to_ = arrivals_.front().sequence + 1;
    arrivals_.pop_front();
    ++base_;
  }
}

bool Stream::took(std::uint64_t sequence) const {
  if (sequence < taken_up_to_) return true;
  return std::any_of(arrivals_.begin(), arrivals_.end(),
                     [&](const Arrival& arrival) { return arrival.taken && arrival.sequence == sequence; });
}

std::size_t Inbox::Hash::operator()(const Channel& c) const {
  std::uint64_t x = c.communicator ^ (static_cast<std::uint64_t>(static_cast<std::uint32_t>(c.source)) << 32) ^
                    static_cast<std::uint32_t>(c.tag);
  x *= 0x9e3779b97f4a7c15ULL;
  return static_cast<std::size_t>(x ^ (x >> 29));
}

std::vector<Stream>& Inbox::streams(const Channel& channel) {
  auto found = streams_.find(channel);
  if (found == streams_.end()) {
    found = streams_.emplace(channel, std::make_unique<std::vector<Stream>>(degree_)).first;
  }
  return *found->second;
}

std::size_t Inbox::waiting() const {
  std::size_t count = 0;
  for (const auto& [channel, streams] : streams_) {
    for (const Stream& stream : *streams) count += stream.waiting();
  }
  return count;
}

}  // namespace holdfast::replicate
