#pragma once

#include <algorithm>
#include <cstdint>

namespace holdfast::transport {

/// The round-trip time of a rail to a peer, and the timeout that follows from it. Source: RFC 6298, sections 2 and 5:
/// SRTT and RTTVAR with gains 1/8 and 1/4, timeout SRTT + 4 RTTVAR, doubled at each timeout. Samples are taken from the
/// stamp that each packet carries and the acknowledgement echoes (RFC 7323, section 4), so that a retransmitted
/// fragment gives no ambiguous sample (Karn's problem) and samples are not lost while packets are.
class RoundTrip {
 public:
  void sample(std::int64_t round_trip_ns) {
    round_trip_ns = std::max<std::int64_t>(round_trip_ns, 1);
    if (smoothed_ns_ == 0) {
      smoothed_ns_ = round_trip_ns;
      variation_ns_ = round_trip_ns / 2;
      return;
    }
    const std::int64_t error = smoothed_ns_ - round_trip_ns;
    variation_ns_ += ((error < 0 ? -error : error) - variation_ns_) / 4;
    smoothed_ns_ += (round_trip_ns - smoothed_ns_) / 8;
  }

  bool measured() const { return smoothed_ns_ != 0; }
  std::int64_t smoothed_ns() const { return smoothed_ns_; }
  std::int64_t variation_ns() const { return variation_ns_; }

  /// The timeout after `doublings` timeouts in a row. `ack_delay_ns` is how long the peer may hold an acknowledgement.
  std::int64_t timeout_ns(std::int64_t ack_delay_ns, std::int64_t least_ns, std::int64_t most_ns,
                          unsigned doublings) const {
    const std::int64_t base = measured() ? smoothed_ns_ + 4 * variation_ns_ + ack_delay_ns : initial_ns;
    const std::int64_t kept = std::clamp(base, std::min(least_ns, most_ns), most_ns);
    return std::min(kept << std::min(doublings, 20U), most_ns);
  }

 private:
  static constexpr std::int64_t initial_ns = 10'000'000;  // a local network answers well within; RFC 6298 has the
                                                          // Internet in mind with a second

  std::int64_t smoothed_ns_ = 0;
  std::int64_t variation_ns_ = 0;
};

}  // namespace holdfast::transport
