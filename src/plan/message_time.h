#pragma once

namespace holdfast::plan {

/// What one message meets that is copied at both ends: NewMadeleine's model of its eager protocol ("Fault tolerance in
/// NewMadeleine", section 5.2). All above 0.
struct MessagePath {
  double latency_s = 0;            ///< lambda_net: of an empty message
  double bandwidth_bit_per_s = 0;  ///< B_net
  double copy_bit_per_s = 0;       ///< B_copy: of one core copying memory
  double checksum_bit_per_s = 0;   ///< B_csum: of one core summing what is in its cache
};

/// Time of a message of `bytes` (0 or more), in seconds: T(L) = 2 L / B_copy + 2 L / B_csum + lambda_net + L / B_net,
/// the second term only where it is `checked`. Nothing overlaps.
double message_time_s(const MessagePath& path, double bytes, bool checked);

/// What checking adds to it: 0.1 is a tenth.
double checking_share(const MessagePath& path, double bytes);

/// The same for messages without an end, which no length exceeds.
double most_checking_share(const MessagePath& path);

}  // namespace holdfast::plan
