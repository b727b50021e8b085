#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/status/status.h"
#include "simulate/packet/simulate.h"
#include "simulate/traffic/pattern.h"

namespace holdfast::simulate {

/// One injection rate and what came of it.
struct SweepPoint {
  double load = 0;                 ///< offered, relative to the data rate of the hosts' cables
  double offered_bytes_per_s = 0;  ///< payload, of one host
  Record record;
  /// At least 95 % of what was offered arrived, and went on arriving.
  bool kept_up() const {
    return record.host_mean_bytes_per_s >= 0.95 * offered_bytes_per_s && record.ending != Ending::deadlock &&
           record.ending != Ending::stuck;
  }
};

struct Sweep {
  std::vector<SweepPoint> points;     ///< by load, ascending
  double saturation_load = 0;         ///< the largest load at which the network kept up; 1: at every one
  double saturation_bytes_per_s = 0;  ///< the largest payload a host that arrived at any load
};

/// Runs an infinite pattern at loads of 1/steps, 2/steps ... 1, then halves the gap between the last load that the
/// network kept up with and the first that it did not, `refine` times. A deadlock ends the climb. `done` hears of each
/// point. Errors: simulate()'s; bad_input for a finite pattern.
Result<Sweep> sweep(const fabric::Fabric& fabric, const fabric::Forwarding& forwarding, const Parameters& parameters,
                    const TrafficSpec& spec, std::uint64_t seed, const Control& control, std::uint32_t steps,
                    std::uint32_t refine, const std::function<void(const SweepPoint&)>& done = {});

}  // namespace holdfast::simulate
