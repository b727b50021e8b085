#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "replicate/engine/record.h"
#include "replicate/engine/vote.h"

namespace holdfast::replicate {

/// What one sender replica said about one message: its ballot and, under all-to-all, its whole copy.
struct Arrival {
  Ballot ballot;
  /// The sender's elements have padding, which the ballot leaves out; `whole` is the lower half of the digest with it.
  bool padded = false;
  std::uint64_t whole = 0;
  std::uint64_t sequence = 0;  ///< the sender's number of the message, alike in every replica
  bool complete = true;        ///< false while the copy is still arriving
  bool taken = false;
  std::shared_ptr<const std::vector<std::byte>> copy;
};

/// The arrivals from one sender replica on one channel, in the order of sending.
class Stream {
 public:
  Arrival& push(Arrival arrival);
  /// The ordinal-th arrival ever on this stream; null while it has not come. Not for one that was taken.
  Arrival* find(std::uint64_t ordinal);
  /// The arrival has served its purpose.
  void take(std::uint64_t ordinal);
  /// True when the arrival with this sequence number was taken.
  bool took(std::uint64_t sequence) const;
  std::size_t waiting() const { return arrivals_.size(); }
  /// How many have arrived ever; the ordinal of the next one.
  std::uint64_t pushed() const { return base_ + arrivals_.size(); }

 private:
  std::uint64_t base_ = 0;         ///< ordinal of arrivals_.front()
  std::uint64_t taken_up_to_ = 0;  ///< every arrival with a smaller sequence number was taken
  std::deque<Arrival> arrivals_;
};

/// Arrivals by channel and sender replica. References to streams stay valid. One thread at a time.
class Inbox {
 public:
  explicit Inbox(int degree) : degree_(degree) {}
  /// The streams of a channel, one for each sender replica.
  std::vector<Stream>& streams(const Channel& channel);
  /// Arrivals of all channels that nobody has taken yet; for the end of the job and for diagnosis.
  std::size_t waiting() const;
  std::size_t channels() const { return streams_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const Channel& c) const;
  };
  int degree_;
  std::unordered_map<Channel, std::unique_ptr<std::vector<Stream>>, Hash> streams_;
};

}  // namespace holdfast::replicate
