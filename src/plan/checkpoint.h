#pragma once

#include <functional>

namespace holdfast::plan {

/// A job that writes checkpoints: `work_s` of computation in equal segments, a checkpoint after each (after the last
/// one it stands for the result), a restart before every further try. Interrupts may hit work, checkpoints and
/// restarts.
struct CheckpointedJob {
  double work_s = 0;
  double checkpoint_s = 0;  ///< to write one, > 0
  double restart_s = 0;
};

/// Where the wall time of a job goes on average. work + checkpoint + recompute + restart = wall.
struct Outcome {
  double segments = 1;  ///< the work is cut into this many
  double wall_s = 0;    ///< infinite when the job cannot be expected to end
  double work_s = 0;
  double checkpoint_s = 0;  ///< those that were completed
  double recompute_s = 0;   ///< work and checkpoints lost to interrupts
  double restart_s = 0;     ///< restarts, those that were interrupted too
  double interrupts = 0;    ///< how many are expected

  double efficiency() const { return work_s / wall_s; }
};

/// Daly's higher-order estimate of the work between two checkpoints that ends a job soonest:
/// sqrt(2 delta M) (1 + sqrt(delta / 2M) / 3 + (delta / 2M) / 9) - delta while delta < 2M, else M. Source: J. T. Daly,
/// "A higher order estimate of the optimum checkpoint interval for restart dumps", Future Generation Computer Systems
/// 22(3), 2006, equation 37.
double daly_interval_s(double checkpoint_s, double mean_time_to_interrupt_s);

/// The outcome when interrupts come at a constant rate, with this much work between checkpoints, in Daly's closed form
/// M e^(R/M) (e^((tau + delta)/M) - 1) work/tau (same paper, equation 20) and its exact split (docs/design/plan.md).
/// Segments need not be a whole number.
Outcome memoryless_outcome(const CheckpointedJob& job, double mean_time_to_interrupt_s, double interval_s);

/// The outcome for any survival function of one try, exactly: the renewal equation over completed segments. `survives`
/// gives the chance that a try has not been interrupted by a time in s; it is 1 at 0 and falls. A try's clock starts
/// with its restart. Beyond 4,000 segments the last difference is continued. O(min(segments, 4000)^2) at worst.
Outcome renewal_outcome(const CheckpointedJob& job, double segments, const std::function<double(double)>& survives,
                        double mean_time_to_interrupt_s);

/// renewal_outcome() at the number of segments that makes wall_s least: a search around Daly's.
Outcome best_outcome(const CheckpointedJob& job, const std::function<double(double)>& survives,
                     double mean_time_to_interrupt_s);

}  // namespace holdfast::plan
