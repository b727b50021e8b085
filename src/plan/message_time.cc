#include "plan/message_time.h"

namespace holdfast::plan {
namespace {

constexpr double both_ends = 2;  ///< each copies, and sums
constexpr double byte_bits = 8;  ///< of a byte

}  // namespace

double message_time_s(const MessagePath& path, double bytes, bool checked) {
  const double copies = both_ends * byte_bits * bytes / path.copy_bit_per_s;
  const double sums = checked ? both_ends * byte_bits * bytes / path.checksum_bit_per_s : 0;
  return copies + sums + path.latency_s + byte_bits * bytes / path.bandwidth_bit_per_s;
}

double checking_share(const MessagePath& path, double bytes) {
  return message_time_s(path, bytes, true) / message_time_s(path, bytes, false) - 1;
}

double most_checking_share(const MessagePath& path) {
  return (both_ends / path.checksum_bit_per_s) / (both_ends / path.copy_bit_per_s + 1 / path.bandwidth_bit_per_s);
}

}  // namespace holdfast::plan
