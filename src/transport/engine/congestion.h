#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace holdfast::transport {

/// How many bytes may be on their way on one rail to one peer: slow start (RFC 5681, section 3.1), then growth by a
/// part of the window for each window that is acknowledged, and a reduction to 0.7 (RFC 9438, section 4.6) where too
/// much is lost. Links that lose packets by themselves, up to an eighth of them, keep their window: a reduction helps
/// where queues are full, and cannot mend a link. (Loss is weighed against a threshold as in BBR, draft-ietf-ccwg-bbr,
/// section 5.5.10, and PCC Allegro, M. Dong et al., NSDI 2015, section 4.1, which both tolerate some.) Retransmissions
/// are inside the window like everything else, so that they cannot collapse a link that is overloaded.
///
/// `order` numbers what was sent on the rail, from 1.
class CongestionWindow {
 public:
  CongestionWindow(std::size_t fragment_bytes, std::size_t most_bytes)
      : fragment_bytes_(fragment_bytes),
        most_bytes_(std::max(most_bytes, least_fragments * fragment_bytes)),
        threshold_bytes_(most_bytes_),
        bytes_(std::min(first_bytes(fragment_bytes), most_bytes_)) {}

  std::size_t bytes() const { return bytes_; }

  /// With what was sent just before `next_order`, `flying_bytes` are on their way.
  void on_sent(std::size_t flying_bytes, std::uint64_t next_order) {
    if (flying_bytes + fragment_bytes_ > bytes_) limited_before_ = next_order;
  }

  /// Whether the window, and not the application, was the limit when this was on its way.
  bool limited(std::uint64_t order) const { return order < limited_before_; }

  void on_acknowledged(std::uint64_t order, std::size_t bytes) {
    if (!limited(order)) return;
    if (bytes_ < threshold_bytes_) {
      bytes_ = std::min(bytes_ + bytes, most_bytes_);
      return;
    }
    credit_ += bytes;
    if (credit_ < bytes_) return;
    credit_ = 0;
    bytes_ = std::min(bytes_ + std::max(fragment_bytes_, bytes_ / growth_part), most_bytes_);
  }

  /// A fragment is lost. Losses are counted over what was on its way at the first of them, and over
  /// least_counted fragments at least; when they exceed an eighth, the window shrinks, once for all of these.
  void on_loss(std::uint64_t order, std::uint64_t next_order) {
    if (order < answered_before_) return;
    if (order >= counted_before_) {
      counted_before_ = std::max(next_order, order + least_counted);
      tolerated_ = (counted_before_ - order) / tolerated_part;
      lost_ = 0;
    }
    if (++lost_ <= tolerated_) return;
    counted_before_ = answered_before_ = next_order;
    threshold_bytes_ = bytes_ = std::max(bytes_ * 7 / 10, least_fragments * fragment_bytes_);
    credit_ = 0;
  }

  /// The rail was out: it starts as a new one does (RFC 5681, section 4.1).
  void restart(std::uint64_t next_order) {
    counted_before_ = answered_before_ = next_order;
    threshold_bytes_ = std::max(bytes_ * 7 / 10, least_fragments * fragment_bytes_);
    bytes_ = std::min(first_bytes(fragment_bytes_), bytes_);
    credit_ = 0;
  }

 private:
  static constexpr std::size_t least_fragments = 4;
  static constexpr std::uint64_t least_counted = 64;
  static constexpr std::uint64_t tolerated_part = 8;
  static constexpr std::size_t growth_part = 32;

  /// 32 fragments as long as those are the packets of a network, and a megabyte of the large ones of a stream.
  static constexpr std::size_t first_bytes(std::size_t fragment_bytes) {
    return std::max(std::min<std::size_t>(32 * fragment_bytes, 1 << 20), least_fragments * fragment_bytes);
  }

  std::size_t fragment_bytes_;
  std::size_t most_bytes_;
  std::size_t threshold_bytes_;
  std::size_t bytes_;
  std::size_t credit_ = 0;
  std::uint64_t limited_before_ = 0;
  std::uint64_t counted_before_ = 0;   ///< losses of this round
  std::uint64_t answered_before_ = 0;  ///< losses that the last reduction has answered
  std::uint64_t tolerated_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace holdfast::transport
