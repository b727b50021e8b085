#include "simulate/collective/sampling.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "core/stats/moments.h"
#include "simulate/collective/sequence.h"

namespace holdfast::simulate::collective {
namespace {

constexpr Time longest_ps = ps_per_s;

double in_ns(Time ps) {
  return static_cast<double>(ps) / static_cast<double>(ps_per_ns);
}

/// A collective for each moment and part that fails, on the whole fabric.
Result<Sample> sample_failures(const fabric::Fabric& fabric, Simulation& simulation, const SamplePlan& plan,
                               const random::Stream& root) {
  if (plan.errors.source != ErrorSource::none || plan.named != NamedCase::none || plan.consecutive ||
      plan.adaptive_calm > 0 || plan.experiment.together > 1)
    return Status{Code::bad_input, "sampling hard failures", "other disturbances are asked for besides",
                  "leave out source, case, consecutive, adaptive_calm and together"};
  const std::vector<HardFailure> parts = failing_parts(simulation.tree(), fabric, plan.fails);
  if (parts.empty())
    return Status{Code::bad_input, "sampling hard failures", "the collective depends on no such part",
                  "take another kind, or a larger fabric"};
  const Time calm = simulation.run_reduced({}).last_host_ps;
  Sample result;
  result.collectives = plan.collectives;
  result.exposed = parts.size();
  stats::Moments at_last;
  for (std::uint64_t i = 0; i < plan.collectives; ++i) {
    random::Stream stream = root.child(i).child("failure");
    const double moment = stream.uniform();
    HardFailure failure = parts[stream.below(parts.size())];
    failure.at = static_cast<Time>(moment * static_cast<double>(calm));
    const auto survival = survive(fabric, {}, plan.experiment, std::span(&failure, 1), plan.rebuild_ps);
    if (!survival.ok() && survival.status().code() != Code::unavailable) return survival.status();
    if (!survival.ok()) {
      ++result.cut_off;
      continue;
    }
    if (survival.value().rebuilds > 0) ++result.rebuilt;
    if (!survival.value().correct) ++result.wrong;
    if (survival.value().last_host_ps > calm) ++result.disturbed;
    at_last.add(in_ns(survival.value().last_host_ps));
  }
  result.last_host = measured(at_last, plan.confidence);
  result.mean_copies = plan.experiment.scheme.copies;
  return result;
}

/// One simulation with what it needs for drawing errors.
struct Rig {
  Rig(Simulation made, const ErrorProcess& errors, const fabric::Fabric& fabric)
      : simulation(std::move(made)), draw(errors, simulation.tree(), fabric), calm(simulation.run_reduced({})) {}

  /// Events beyond the horizon cannot have mattered when the collective was over before it.
  Outcome play(const random::Stream& stream, const Disturbance& named) {
    draw.begin(stream);
    for (Time horizon = std::max(2 * calm.last_host_ps, last_ps + last_ps / 2);; horizon *= 2) {
      disturbance = draw.until(horizon);
      disturbance.named.insert(disturbance.named.end(), named.named.begin(), named.named.end());
      const Outcome outcome = simulation.run_reduced(disturbance);
      last_ps = outcome.last_host_ps;
      if ((outcome.complete && outcome.last_host_ps < horizon) || horizon > longest_ps) return outcome;
      if (!outcome.complete && outcome.ended_ps < horizon) return outcome;
    }
  }

  Simulation simulation;
  ErrorDraw draw;
  Outcome calm;
  Time last_ps = 0;  // the last collective's time, from which the next one's horizon is guessed
  Disturbance disturbance;
};

Result<std::unique_ptr<Rig>> make_rig(const fabric::Fabric& fabric, const fabric::Forwarding* forwarding,
                                      const Experiment& experiment, const ErrorProcess& errors) {
  auto made = Simulation::make(fabric, forwarding, {}, experiment);
  if (!made.ok()) return made.status();
  return std::make_unique<Rig>(std::move(made).value(), errors, fabric);
}

}  // namespace

Measured measured(const stats::Moments& moments, double confidence) {
  Measured result;
  if (moments.count() == 0) return result;
  result.mean_ns = moments.mean();
  result.least_ns = moments.least();
  result.greatest_ns = moments.greatest();
  result.interval_ns = {moments.mean(), moments.mean()};
  if (moments.count() < 2 || moments.variance() == 0) return result;
  const auto interval = stats::mean_interval(moments, confidence);
  if (interval.ok()) result.interval_ns = interval.value();
  return result;
}

Result<Disturbance> named_disturbance(NamedCase which, const Tree& tree) {
  Disturbance disturbance;
  if (which == NamedCase::none) return disturbance;
  const Status too_small{
      Code::bad_input, "placing the errors",
      "the tree is too small for '" + std::string(named_case_names[static_cast<std::size_t>(which)]) + "'",
      "take a fabric with several switches of level 1 and three levels"};
  const std::uint32_t leaf = tree.up(0)[0].parent;
  const std::uint32_t other = tree.up(tree.hosts - 1)[0].parent;
  if (tree.up(leaf).empty() || tree.up(other).empty()) return too_small;
  const auto add = [&](std::uint32_t node, std::size_t port) {
    disturbance.named.push_back({.wire = tree.up(node)[port].wire});
  };
  add(leaf, 0);
  switch (which) {
    case NamedCase::none:
    case NamedCase::one:
      break;
    case NamedCase::two_same_level:
      if (other == leaf) return too_small;
      add(other, 0);
      break;
    case NamedCase::two_same_switch:
      if (tree.up(leaf).size() > 1) add(leaf, 1);
      break;
    case NamedCase::two_adjacent: {
      const std::uint32_t above = tree.up(leaf)[0].parent;
      if (tree.up(above).empty()) return too_small;
      add(above, 0);
      break;
    }
  }
  return disturbance;
}

Result<Sample> sample(const fabric::Fabric& fabric, const fabric::Forwarding* forwarding, const SamplePlan& plan) {
  if (Status status = check(plan.errors); !status.ok()) return status;
  auto full = make_rig(fabric, forwarding, plan.experiment, plan.errors);
  if (!full.ok()) return full.status();
  auto named = named_disturbance(plan.named, full.value()->simulation.tree());
  if (!named.ok()) return named.status();
  std::unique_ptr<Rig> single;
  if (plan.adaptive_calm > 0) {
    Experiment one = plan.experiment;
    one.scheme.copies = 1;
    auto made = make_rig(fabric, forwarding, one, plan.errors);
    if (!made.ok()) return made.status();
    single = std::move(made).value();
  }
  const random::Stream root = random::Stream(plan.seed).child("collective");
  if (plan.fails != FailureKind::none) return sample_failures(fabric, full.value()->simulation, plan, root);
  std::optional<Sequence> sequence;
  if (plan.consecutive) {
    if (plan.adaptive_calm > 0 || plan.named != NamedCase::none)
      return Status{Code::bad_input, "sampling collectives", "consecutive ones are neither adaptive nor named cases",
                    "leave out adaptive_calm and case"};
    sequence.emplace(full.value()->simulation, plan.errors, fabric, root.child("sequence"));
  }
  stats::Moments at_root;
  stats::Moments at_last;
  Sample result;
  result.collectives = plan.collectives;
  std::unordered_set<std::uint64_t> results;
  std::uint64_t copies = 0;
  std::uint32_t calm_for = plan.adaptive_calm;
  for (std::uint64_t i = 0; i < plan.collectives; ++i) {
    const bool sparse = single != nullptr && calm_for >= plan.adaptive_calm;
    Rig& rig = sparse ? *single : *full.value();
    copies += sparse ? 1 : plan.experiment.scheme.copies;
    const Outcome outcome = sequence ? sequence->next() : rig.play(root.child(i), named.value());
    calm_for = outcome.counts[Count::corrupted] == 0 ? calm_for + 1 : 0;
    if (!outcome.complete) {
      ++result.incomplete;
      continue;
    }
    if (!outcome.correct) ++result.wrong;
    if (outcome.split) ++result.split;
    if (plan.experiment.operand != Operand::integer) results.insert(outcome.digest);
    if (outcome.last_host_ps > rig.calm.last_host_ps) ++result.disturbed;
    at_root.add(in_ns(outcome.root_ps));
    at_last.add(in_ns(outcome.last_host_ps));
  }
  result.results = results.size();
  result.root = measured(at_root, plan.confidence);
  result.last_host = measured(at_last, plan.confidence);
  if (plan.collectives > 0) result.mean_copies = static_cast<double>(copies) / static_cast<double>(plan.collectives);
  return result;
}

}  // namespace holdfast::simulate::collective
