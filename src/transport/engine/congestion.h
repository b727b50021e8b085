#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace holdfast::transport {

/// How many bytes may be on their way on one rail to one peer. Slow start and congestion avoidance of RFC 5681 counted
/// in bytes, at most one reduction for what was sent in one window (RFC 9002, section 7.3.2), to 0.7 of it (RFC 9438,
/// section 4.6: half is too much where round trips are short), and the least window after a timeout. So retransmissions
/// are inside the window like everything else and cannot make a lossy rail worse.
class CongestionWindow {
 public:
  CongestionWindow(std::size_t fragment_bytes, std::size_t most_bytes)
      : fragment_bytes_(fragment_bytes),
        most_bytes_(std::max(most_bytes, least_fragments * fragment_bytes)),
        threshold_bytes_(most_bytes_),
        bytes_(std::min(first_bytes(fragment_bytes), most_bytes_)) {}

  std::size_t bytes() const { return bytes_; }

  /// `full`: whether the window, and not the application, was the limit when this was sent.
  void on_acknowledged(std::size_t bytes, bool full) {
    if (!full) return;
    if (bytes_ < threshold_bytes_) {
      bytes_ = std::min(bytes_ + bytes, most_bytes_);
    } else {
      credit_ += bytes;
      if (credit_ >= bytes_) {
        credit_ -= bytes_;
        bytes_ = std::min(bytes_ + fragment_bytes_, most_bytes_);
      }
    }
  }

  /// A fragment that was the `order`-th sent is lost; `next_order` is what is sent next.
  void on_loss(std::uint64_t order, std::uint64_t next_order) {
    if (order < recovered_from_) return;
    recovered_from_ = next_order;
    threshold_bytes_ = std::max(bytes_ * 7 / 10, least_fragments * fragment_bytes_);
    bytes_ = threshold_bytes_;
    credit_ = 0;
  }

  void on_timeout(std::uint64_t next_order) {
    recovered_from_ = next_order;
    threshold_bytes_ = std::max(bytes_ * 7 / 10, least_fragments * fragment_bytes_);
    bytes_ = least_fragments * fragment_bytes_;
    credit_ = 0;
  }

 private:
  static constexpr std::size_t least_fragments = 4;

  /// 32 fragments as long as those are the packets of a network, and a megabyte of the large ones of a stream.
  static constexpr std::size_t first_bytes(std::size_t fragment_bytes) {
    return std::max(std::min<std::size_t>(32 * fragment_bytes, 1 << 20), least_fragments * fragment_bytes);
  }

  std::size_t fragment_bytes_;
  std::size_t most_bytes_;
  std::size_t threshold_bytes_;
  std::size_t bytes_;
  std::size_t credit_ = 0;
  std::uint64_t recovered_from_ = 0;
};

}  // namespace holdfast::transport
