#pragma once

#include <cstdint>
#include <string_view>

#include "core/stats/confidence.h"
#include "core/stats/moments.h"
#include "core/status/status.h"
#include "simulate/collective/error_process.h"
#include "simulate/collective/hard_failures.h"
#include "simulate/collective/simulation.h"

/// Many collectives under one error process: what a point of a figure is.
namespace holdfast::simulate::collective {

/// The errors of the paper's Figure 4, on chosen links of the tree, on the way up: one packet on each.
enum class NamedCase : std::uint8_t {
  none,
  one,              ///< one channel from a switch of level 1 up
  two_same_level,   ///< one from each of two switches of level 1
  two_same_switch,  ///< both (temporal: the only) from one switch of level 1
  two_adjacent,     ///< from a switch of level 1, and from the switch that it leads to
};
inline constexpr std::array<std::string_view, 5> named_case_names = {"none", "one", "two-same-level", "two-same-switch",
                                                                     "two-adjacent"};
/// Error (bad_input): the tree has too few switches or levels for it.
Result<Disturbance> named_disturbance(NamedCase which, const Tree& tree);

struct SamplePlan {
  Experiment experiment;
  ErrorProcess errors;
  NamedCase named = NamedCase::none;
  std::uint64_t collectives = 1000;
  std::uint64_t seed = 1;
  double confidence = 0.95;
  /// One after another, each as soon as the one before is over and its last packet has passed, under one run of errors:
  /// a strike that waits may hit the next collective's packet. Otherwise each has its own draw from a quiet start.
  bool consecutive = false;
  /// What goes down for good at a random moment of each collective; with this no soft errors.
  FailureKind fails = FailureKind::none;
  Time rebuild_ps = ps_per_ms;  ///< from when nothing moves any more to a new tree
  /// Adaptive replication: the number of copies of the next collective is the scheme's after one that saw an error, and
  /// one after this many in a row that saw none. 0: the scheme's always.
  std::uint32_t adaptive_calm = 0;
};

struct Measured {
  double mean_ns = 0;
  stats::Interval interval_ns;  ///< of the mean, at the plan's confidence; both ends the mean without variance
  double least_ns = 0;
  double greatest_ns = 0;
};

/// The mean of some times in ns, with its interval.
Measured measured(const stats::Moments& moments, double confidence);

struct Sample {
  Measured root;       ///< until the reduction is done at the first root
  Measured last_host;  ///< until the last host has the result
  std::uint64_t collectives = 0;
  std::uint64_t incomplete = 0;  ///< given up: links that stayed silent through all repetitions; not in the means
  std::uint64_t wrong = 0;       ///< complete, with a wrong result somewhere
  std::uint64_t disturbed = 0;   ///< took longer than without errors
  /// Floating point: collectives in which hosts got results of different bits, and how many different results the first
  /// host got in all.
  std::uint64_t split = 0;
  std::uint64_t results = 0;
  std::uint64_t rebuilt = 0;  ///< hard failures: collectives that needed a new tree
  std::uint64_t cut_off = 0;  ///< hard failures: collectives that lost a host for good; not in the means
  std::uint64_t exposed = 0;  ///< hard failures: parts of that kind that the collective depends on
  double mean_copies = 0;     ///< sent per transmission: of interest when adaptive
};

/// Plays the collectives one after another, each under its own draw of errors from the stream (seed, number), so that
/// different schemes meet the same draws; consecutive ones under one draw. Errors (bad_input): those of
/// Simulation::make() and the checks; failures beside errors or with a fabric that has no such part.
Result<Sample> sample(const fabric::Fabric& fabric, const fabric::Forwarding* forwarding, const SamplePlan& plan);

}  // namespace holdfast::simulate::collective
