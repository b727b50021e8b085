#pragma once

#include <cstdint>
#include <vector>

#include "simulate/kernel/prefetch.h"
#include "simulate/kernel/time.h"
#include "simulate/packet/histogram.h"
#include "simulate/packet/parameters.h"
#include "simulate/packet/record.h"
#include "simulate/packet/samples.h"

namespace holdfast::simulate {

/// What the sinks count: payload of each host, whole and by samples of time, and latencies. Tells when an infinite
/// pattern is steady, and works out the bandwidths of the record.
class Statistics {
 public:
  Statistics(const Parameters& parameters, std::uint32_t hosts)
      : parameters_(parameters), sample_(parameters.sample_ns * ps_per_ns), sinks_(hosts) {}

  void payload(std::uint32_t host, std::uint64_t bytes, Time at) {
    Sink& sink = sinks_[host];
    sink.delivered += bytes;
    sink.samples.add(at, bytes, sample_);
  }
  void packet(Time latency) { packet_latency_.add(latency); }
  void message(Time latency) { message_latency_.add(latency); }

  /// When the adapter's PCI Express will have brought all that arrived to memory.
  Time& memory_free(std::uint32_t host) { return sinks_[host].memory_free; }

  void prefetch(std::uint32_t host) const { prefetch_line(&sinks_[host]); }
  Time sample() const { return sample_; }
  /// Whether so many of the receiving hosts see a steady bandwidth (the paper's rule, section IV-D1). `share` is set to
  /// how many do, 0 to 1, when there are samples enough to say.
  bool steady(Time now, double& share);

  /// Fills in what was measured, bandwidths and latencies. `finite`: by completion, otherwise over the samples.
  void fill(Record& record, bool finite);
  std::uint64_t bytes() const { return sinks_.capacity() * sizeof(Sink); }

 private:
  struct alignas(64) Sink {
    Time memory_free = 0;
    std::uint64_t delivered = 0;
    Samples samples;
  };

  const Parameters& parameters_;
  Time sample_;
  std::vector<Sink> sinks_;
  Histogram message_latency_, packet_latency_;
};

}  // namespace holdfast::simulate
