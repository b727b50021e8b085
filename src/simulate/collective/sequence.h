#pragma once

#include <cstdint>
#include <vector>

#include "core/random/stream.h"
#include "simulate/collective/error_process.h"
#include "simulate/collective/simulation.h"

namespace holdfast::simulate::collective {

/// Collectives one after another under one run of errors, as a program without computation between them would do: each
/// begins when the last host of the one before has its result and the copies behind it have left their wires. A strike
/// that waits (Strikes::next) and met no packet of one collective hits a packet of the next. Not thread-safe.
class Sequence {
 public:
  /// All but the stream must outlive it; the errors must have passed check().
  Sequence(Simulation& simulation, const ErrorProcess& errors, const fabric::Fabric& fabric,
           const random::Stream& stream);

  Outcome next();
  Time now_ps() const { return now_; }  ///< since the first one's start

 private:
  Disturbance from_now(const Disturbance& drawn) const;

  Simulation& simulation_;
  ErrorDraw draw_;
  random::Stream bits_;
  Time now_ = 0;
  Time last_ps_ = 0;
  std::vector<std::uint8_t> waiting_;
};

}  // namespace holdfast::simulate::collective
