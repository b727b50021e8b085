#include "simulate/job/timeline.h"

#include <algorithm>

namespace holdfast::simulate::job {

Timeline::Timeline(std::size_t rows, std::size_t bins) : bins_(bins), times_(rows * bins * activities) {}

Time& Timeline::at(std::size_t row, std::size_t bin, Activity activity) {
  return times_[(row * bins_ + bin) * activities + static_cast<std::size_t>(activity)];
}

double Timeline::share(std::size_t row, std::size_t bin, Activity activity) const {
  const Time time = times_[(row * bins_ + bin) * activities + static_cast<std::size_t>(activity)];
  return static_cast<double>(time) / static_cast<double>(bin_ps_);
}

void Timeline::widen() {
  for (std::size_t row = 0; row < rows(); ++row)
    for (std::size_t bin = 0; bin < bins_; ++bin)
      for (std::size_t which = 0; which < activities; ++which) {
        const auto activity = static_cast<Activity>(which);
        at(row, bin, activity) =
            2 * bin < bins_ ? at(row, 2 * bin, activity) + at(row, 2 * bin + 1, activity) : Time{0};
      }
  bin_ps_ *= 2;
}

void Timeline::add(std::size_t row, Activity activity, Time begin, Time end) {
  end = std::min(end, never / 2);  // a run that is cut by a limit may have a plan far beyond it
  while (end > begin && (end - 1) / bin_ps_ >= static_cast<Time>(bins_)) widen();
  while (begin < end) {
    const auto bin = static_cast<std::size_t>(begin / bin_ps_);
    const Time until = std::min(end, static_cast<Time>(bin + 1) * bin_ps_);
    at(row, bin, activity) += until - begin;
    begin = until;
  }
}

}  // namespace holdfast::simulate::job
