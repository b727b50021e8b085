#include "simulate/collective/sequence.h"

#include <algorithm>

namespace holdfast::simulate::collective {
namespace {

constexpr Time longest_sequence_step_ps = ps_per_s;

}  // namespace

Sequence::Sequence(Simulation& simulation, const ErrorProcess& errors, const fabric::Fabric& fabric,
                   const random::Stream& stream)
    : simulation_(simulation),
      draw_(errors, simulation.tree(), fabric),
      bits_(stream.child("bits")),
      last_ps_(simulation.run_reduced({}).last_host_ps) {
  draw_.begin(stream);
}

Outcome Sequence::next() {
  const std::uint64_t bits_seed = bits_.next64();
  for (Time horizon = 3 * last_ps_;; horizon *= 2) {
    Disturbance disturbance = from_now(draw_.until(now_ + horizon));
    disturbance.bits_seed = bits_seed;
    const Outcome outcome = simulation_.run(disturbance);
    const Time end = outcome.complete ? outcome.last_host_ps : outcome.ended_ps;
    const Time over = std::max(end, simulation_.quiet_ps());
    if (over >= horizon && horizon <= longest_sequence_step_ps) continue;
    waiting_ = simulation_.waiting_at(over);
    now_ += over;
    last_ps_ = end;
    draw_.forget(now_);
    return outcome;
  }
}

Disturbance Sequence::from_now(const Disturbance& drawn) const {
  Disturbance disturbance = drawn;
  for (Strike& strike : disturbance.strikes) strike.at -= now_;
  disturbance.waiting = waiting_;
  return disturbance;
}

}  // namespace holdfast::simulate::collective
