#include "simulate/packet/statistics.h"

#include <algorithm>

#include "core/stats/distribution.h"

namespace holdfast::simulate {
namespace {

Latency latency(const Histogram& all) {
  return {all.count(), all.least(), all.percentile(0.5), all.percentile(0.99), all.most(), all.mean()};
}

}  // namespace

bool Statistics::steady(Time now, double& share) {
  const std::int64_t count = Samples::closed(now, sample_);
  if (count < 10) return false;
  const double outside = (1 - parameters_.confidence / 100) / 2;
  const double quantile = stats::student_t_quantile(1 - outside, static_cast<double>(count - 1));
  std::uint64_t receiving = 0;
  std::uint64_t settled = 0;
  for (Sink& sink : sinks_) {
    if (!sink.samples.received()) continue;
    ++receiving;
    sink.samples.settle(now, sample_);
    if (sink.samples.relative_half_width(count, quantile) * 100 <= parameters_.steady_width) ++settled;
  }
  if (receiving == 0) return false;
  share = static_cast<double>(settled) / static_cast<double>(receiving);
  return share * 100 >= parameters_.steady_hosts;
}

void Statistics::fill(Record& record, bool finite) {
  const std::int64_t samples = Samples::closed(record.end_ps, sample_);
  const bool sampled = !finite && samples > 0;
  record.measured_from_ps = sampled ? sample_ : 0;
  record.measured_to_ps = sampled ? (samples + 1) * sample_ : finite ? record.completion_ps : record.end_ps;
  const double seconds =
      static_cast<double>(record.measured_to_ps - record.measured_from_ps) / static_cast<double>(ps_per_s);
  std::uint64_t receiving = 0;
  std::uint64_t total = 0;
  double least = 0;
  double most = 0;
  for (Sink& sink : sinks_) {
    if (sink.delivered == 0) continue;
    sink.samples.settle(record.end_ps, sample_);
    const std::uint64_t bytes = sampled ? sink.samples.bytes() : sink.delivered;
    const double rate = seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
    least = receiving == 0 ? rate : std::min(least, rate);
    most = std::max(most, rate);
    total += bytes;
    ++receiving;
  }
  record.host_least_bytes_per_s = least;
  record.host_most_bytes_per_s = most;
  if (seconds > 0) record.throughput_bytes_per_s = static_cast<double>(total) / seconds;
  if (receiving > 0) record.host_mean_bytes_per_s = record.throughput_bytes_per_s / static_cast<double>(receiving);
  record.message_latency = latency(message_latency_);
  record.packet_latency = latency(packet_latency_);
}

}  // namespace holdfast::simulate
