#pragma once

#include <algorithm>

#include "simulate/kernel/time.h"

namespace holdfast::simulate {

/// PCI Express of an adapter, one direction: it moves bytes at an even pace, but pauses for the first `pause` of every
/// `period` (Fail-in-place networks, section IV-B: 0.01 us every 0.1 us). Closed forms by "working time", the time that
/// it has not paused.
class HiccupClock {
 public:
  HiccupClock(Time period, Time pause) : period_(period), pause_(pause), working_(period - pause) {}

  /// When work of this length, > 0, ends that begins at `start`.
  Time after(Time start, Time work) const {
    if (pause_ == 0) return start + work;
    const Time done = start / period_ * working_ + std::max<Time>(0, start % period_ - pause_) + work;
    const Time rest = done % working_;
    return done / working_ * period_ + (rest == 0 ? 0 : pause_ + rest);
  }

 private:
  Time period_, pause_, working_;
};

}  // namespace holdfast::simulate
