#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace holdfast::transport {

/// The bandwidth of a rail to a peer, by which fragments are shared out between rails. For each acknowledged fragment:
/// bytes delivered between its sending and its acknowledgement, over that time; the largest of the last ten round trips
/// counts. Source: N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016, and the
/// delivery rate estimation that goes with it. Where the application was the limit a sample says only what was
/// possible at least, so that it raises the estimate and never lowers it.
class DeliveryRate {
 public:
  /// What is remembered of a fragment when it is sent.
  struct Mark {
    std::uint64_t delivered_bytes = 0;
    std::int64_t delivered_ns = 0;
  };

  explicit DeliveryRate(double bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  /// A fragment is sent; `alone` when nothing else is on its way, so that the time until now was idle.
  Mark mark(std::int64_t now_ns, bool alone) {
    if (alone) delivered_ns_ = now_ns;
    return {delivered_bytes_, delivered_ns_};
  }

  void on_acknowledged(const Mark& mark, std::size_t bytes, std::int64_t now_ns, std::int64_t round_trip_ns,
                       bool window_full) {
    delivered_bytes_ += bytes;
    delivered_ns_ = now_ns;
    const std::int64_t time_ns = now_ns - mark.delivered_ns;
    if (time_ns < std::max<std::int64_t>(round_trip_ns / 2, 1)) return;
    const double rate =
        static_cast<double>(delivered_bytes_ - mark.delivered_bytes) * 1e9 / static_cast<double>(time_ns);
    best_ = std::max(best_, rate);
    full_ = full_ || window_full;
    if (now_ns - epoch_ns_ < std::max<std::int64_t>(10 * round_trip_ns, 1'000'000)) return;
    // A filter of two generations: the largest of this period and of the one before.
    const double kept = std::max(best_, before_);
    if (full_ || kept > bytes_per_second_ || !measured_) bytes_per_second_ = kept;
    measured_ = true;
    before_ = best_;
    best_ = 0;
    full_ = false;
    epoch_ns_ = now_ns;
  }

  double bytes_per_second() const { return bytes_per_second_; }

 private:
  double bytes_per_second_;
  double best_ = 0;
  double before_ = 0;
  bool full_ = false;
  bool measured_ = false;
  std::uint64_t delivered_bytes_ = 0;
  std::int64_t delivered_ns_ = 0;
  std::int64_t epoch_ns_ = 0;
};

}  // namespace holdfast::transport
