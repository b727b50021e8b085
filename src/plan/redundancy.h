#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace holdfast::plan {

/// How the ranks of a job are replicated: some `low_replicas` times, the others once more. Whole degrees leave `high`
/// empty; a degree of 1.5 gives every other rank a second replica (partial redundancy, RedMPI section 7 on MR-MPI).
struct Redundancy {
  double ranks_low = 0;
  double ranks_high = 0;
  int low_replicas = 1;  ///< at least 1

  double ranks() const { return ranks_low + ranks_high; }
  double nodes() const { return ranks_low * low_replicas + ranks_high * (low_replicas + 1); }
};

/// `degree` >= 1; the share of ranks with one replica more is rounded to whole ranks.
Redundancy split_ranks(double ranks, double degree);

/// What a crash of one process takes with it, in the order of crash_names.
enum class Crash : std::uint8_t {
  rank,   ///< itself alone: replicas outlive each other rank by rank (rMPI, RedMPI)
  world,  ///< the whole replica that it belongs to (docs/design/dead-replicas.md)
  job,    ///< all
};
inline constexpr std::array<std::string_view, 3> crash_names{"rank", "world", "job"};

/// What can interrupt a job, each node for itself and at a constant rate.
struct Hazards {
  double node_mtbf_s = 0;            ///< of one node, fail-stop
  double corruption_rate_per_s = 0;  ///< of one node: silent corruption that a comparison would find
  Crash crash = Crash::rank;
};

/// The same where ranks have different numbers of replicas: no whole replica can be taken out of such a job.
Crash crash_of(const Redundancy& redundancy, Crash asked);

/// The chance that a job that began with all replicas alive and clean at time 0 has not been interrupted by `t_s`.
/// A job is interrupted when a rank has lost all its replicas (K. Ferreira et al., SAND2009-6753: failed replicas stay
/// down until the job restarts), where crashes take more than a rank when every world or any node is lost, or when more
/// than a tolerable part of a rank's replicas is corrupt, so that the comparison finds no majority: one of two, two of
/// three or four (RedMPI sections 2 and 3.2). Ranks with one replica are not compared. The two causes are taken as
/// independent of each other.
double survival(const Redundancy& redundancy, const Hazards& hazards, double t_s);

/// The two causes alone.
double survival_of_crashes(const Redundancy& redundancy, double node_mtbf_s, double t_s, Crash crash = Crash::rank);
double survival_of_votes(const Redundancy& redundancy, double corruption_rate_per_s, double t_s);

/// The mean of the time to the first interrupt, by quadrature of survival(). Infinite without hazards.
double mean_time_to_interrupt_s(const Redundancy& redundancy, const Hazards& hazards);

/// The same in closed form for crashes at a whole degree r: theta/r * sum over j = 1..r of B(j/r, ranks), B Euler's
/// beta function; theta / ranks for r = 1, and near theta sqrt(pi / (4 ranks)) for pairs. Derivation:
/// docs/design/plan.md.
double mean_time_to_crash_s(double ranks, int degree, double node_mtbf_s);

}  // namespace holdfast::plan
