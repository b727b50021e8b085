#pragma once

#include <span>

#include "core/status/status.h"
#include "fabric/topology/fabric.h"
#include "simulate/collective/simulation.h"

namespace holdfast::simulate::collective {

/// A link, or a switch with all its links, that goes down for good while the collective runs.
struct HardFailure {
  Time at = 0;
  fabric::LinkId link = fabric::none;
  fabric::NodeId switch_node = fabric::none;  ///< meant when `link` is none
  /// Of an adapter's several cables (Scheme::dual_port), which the fabric has as one link: this one alone.
  std::uint8_t cable = every_cable;
  static constexpr std::uint8_t every_cable = 0xFF;
};

struct Survival {
  bool correct = false;
  Time last_host_ps = 0;  ///< from the first start to the end of the attempt that went through
  std::uint32_t rebuilds = 0;
};

/// Plays a collective through hard failures. Where its tree has no way around them, senders repeat until their retry
/// limit, the manager notices `detect_and_rebuild_ps` later that nothing moves, embeds the collective anew in what is
/// left of the fabric (shortest paths), and all hosts start again. Spatial replication over several roots gets through
/// without, as long as each host and switch has one way left; adapters of several ports, as long as one of their cables
/// is.
///
/// Errors: bad_input (those of Simulation::make, a failure that names nothing, or a cable that no adapter has);
/// unavailable when a host is cut off.
Result<Survival> survive(const fabric::Fabric& fabric, std::span<const fabric::NodeId> hosts,
                         const Experiment& experiment, std::span<const HardFailure> failures,
                         Time detect_and_rebuild_ps);

}  // namespace holdfast::simulate::collective
