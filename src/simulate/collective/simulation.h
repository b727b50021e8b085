#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/status/status.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/collective/disturbance.h"
#include "simulate/collective/engine.h"
#include "simulate/collective/operands.h"
#include "simulate/collective/scheme.h"
#include "simulate/collective/tree.h"

namespace holdfast::simulate::collective {

/// What one collective is.
struct Experiment {
  Scheme scheme;
  Assumptions assumptions;
  Operation operation = Operation::allreduce;
  Combine combine = Combine::sum;
  Operand operand = Operand::integer;
  std::uint64_t bytes = 256;  ///< of operands a host; a multiple of 8; ignored for a barrier
  std::uint32_t host = 0;     ///< reduce: the host with the result; broadcast: with the data; an index into the hosts
  std::uint64_t seed = 1;     ///< of the operands
};

/// One collective on one fabric, ready to be run again and again under different disturbances. Not thread-safe: one a
/// thread. 1,728 hosts take about 1 MB.
class Simulation {
 public:
  /// `hosts` empty: all adapters of the fabric. `forwarding` null: shortest paths. Nothing given is kept. Errors
  /// (bad_input): check(scheme), embed(), bytes or a host out of range.
  static Result<Simulation> make(const fabric::Fabric& fabric, const fabric::Forwarding* forwarding,
                                 std::span<const fabric::NodeId> hosts, const Experiment& experiment);

  const Experiment& experiment() const;
  const Tree& tree() const;

  /// Plays the collective with all its hosts and links.
  Outcome run(const Disturbance& disturbance, Detail detail = Detail::needed);

  /// The same times and verdict as run(), from a tree in which everything that nothing distinguishes stands once
  /// (quotient.h). Falls back to run() where a sum has no inverse: floating point, minima and maxima, reduce and
  /// broadcast.
  Outcome run_reduced(const Disturbance& disturbance);

  /// When each host had the result in the last run(), from the start; 0: never.
  std::vector<Time> host_times() const;

 private:
  struct Parts;
  explicit Simulation(std::unique_ptr<Parts> parts);

 public:
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace holdfast::simulate::collective
