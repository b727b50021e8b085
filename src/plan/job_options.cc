#include "plan/job_options.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace holdfast::plan {
namespace {

constexpr std::array degrees{1.0, 1.5, 2.0, 2.5, 3.0};

Crash crash_asked(const Machine& machine) {
  const auto found = std::find(crash_names.begin(), crash_names.end(), machine.crash.value);
  return found == crash_names.end() ? Crash::rank : static_cast<Crash>(found - crash_names.begin());
}

Redundancy fit(const Machine& machine, double degree) {
  double ranks = std::min(machine.job_nodes.value, std::floor(machine.nodes.value / degree));
  while (ranks > 1 && split_ranks(ranks, degree).nodes() > machine.nodes.value) --ranks;
  return split_ranks(ranks, degree);
}

JobOption option_at(const Inputs& inputs, double degree) {
  const Machine& machine = inputs.machine;
  JobOption option;
  option.degree = degree;
  option.redundancy = fit(machine, degree);
  option.useful_node_s = machine.job_time_s.value * machine.job_nodes.value;
  option.job = {option.useful_node_s / option.redundancy.ranks() * inputs.overheads.at(degree),
                machine.checkpoint_s.value, machine.restart_s.value};
  option.hazards = {machine.node_mtbf_s.value, machine.has("corruption") ? machine.corruption_rate_per_s.value : 0,
                    crash_asked(machine)};
  const double mean_s = mean_time_to_interrupt_s(option.redundancy, option.hazards);
  if (degree == 1) {
    const double segments =
        std::max(1.0, std::round(option.job.work_s / daly_interval_s(option.job.checkpoint_s, mean_s)));
    option.outcome = memoryless_outcome(option.job, mean_s, option.job.work_s / segments);
  } else {
    option.outcome = best_outcome(
        option.job, [&](double t) { return survival(option.redundancy, option.hazards, t); }, mean_s);
  }
  if (machine.has("corruption") && std::isfinite(option.outcome.wall_s)) {
    option.errors =
        silent_errors(option.redundancy, option.hazards, option.outcome,
                      {machine.escape_share.value, machine.identical_share.value, machine.digest_bits.value});
  }
  return option;
}

}  // namespace

std::vector<JobOption> job_options(const Inputs& inputs) {
  std::vector<JobOption> options;
  for (double degree : degrees) {
    if (inputs.machine.nodes.value < std::ceil(degree)) continue;
    options.push_back(option_at(inputs, degree));
  }
  return options;
}

Choice choose(const Machine& machine, const std::vector<JobOption>& options) {
  const auto measure = [&](const JobOption& option) {
    return machine.job_aim.value == "time" ? option.outcome.wall_s : option.node_s();
  };
  const auto ends = [](const JobOption& option) { return std::isfinite(option.outcome.wall_s); };
  const auto acceptable = [&](const JobOption& option) {
    return option.errors.wrong_answer() <= machine.job_wrong_answer.value;
  };
  Choice choice{0, acceptable(options[0]), ends(options[0])};
  for (std::size_t i = 1; i < options.size(); ++i) {
    const JobOption& best = options[choice.index];
    const JobOption& next = options[i];
    bool better = false;
    if (ends(next) != choice.ends) {
      better = ends(next);
    } else if (acceptable(next) != choice.acceptable) {
      better = acceptable(next);
    } else {
      better = choice.acceptable ? measure(next) < measure(best) : next.errors.all() < best.errors.all();
    }
    if (better) choice = {i, acceptable(next), ends(next)};
  }
  return choice;
}

}  // namespace holdfast::plan
