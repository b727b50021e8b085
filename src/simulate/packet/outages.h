#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fault/fault.h"
#include "core/status/status.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"
#include "simulate/packet/timeline.h"

/// From faults with moments to what becomes of the network: parts fail and come back, the subnet manager notices,
/// computes and writes tables switch by switch.
namespace holdfast::simulate {

/// How a subnet manager goes about it.
struct SubnetManager {
  /// From a change to when it hears of it by a trap (InfiniBand Architecture Specification 1.3, 13.4.9 and 14.3.10).
  Time trap = 100 * ps_per_us;
  /// Instead: it looks at all of the network at every multiple of this; 0: by traps.
  Time sweep = 0;
  /// It computes so long; none: as long as `route` takes on this machine, so that runs differ.
  std::optional<Time> compute = ps_per_ms;
  /// It writes the tables of one switch in this time, those that change, in the order of node ids.
  Time write = 50 * ps_per_us;
};

/// Tables for a fabric with these links up, of the same nodes and LIDs.
using Route = std::function<Result<fabric::Forwarding>(const fabric::Fabric&)>;

struct OutageRules {
  std::uint64_t seed = 1;
  Time horizon = never;    ///< when the run ends; faults that strike again and again need it
  Time begin = 0;          ///< what the faults' clock shows when the run begins
  bool critical = false;   ///< faults may cut hosts off for good
  bool later_too = false;  ///< what strikes after the end is left out rather than refused
};

/// One thing that happened, for reports.
struct OutageStep {
  Time at = 0;
  std::string what;
};

struct Outages {
  Timeline timeline;
  std::vector<std::unique_ptr<fabric::Forwarding>> tables;  ///< which the timeline points to
  std::vector<OutageStep> steps;                            ///< in the order of time
  Time unrouted = 0;         ///< how long in all parts were down before the tables without them were written
  std::uint64_t rounds = 0;  ///< of the subnet manager
  std::uint64_t switches_written = 0;
};

/// What strikes during a run rather than before it: a fault with a moment after `begin`, with a mean, one that passes,
/// noise, or a slow link.
bool strikes_during_run(const fault::Fault& fault, Time begin);

/// `tables` are those at the begin. `route` may be empty: nobody writes tables. Errors (bad_input): what fabric::fail()
/// refuses; a part that fails while it is down; a fault that cuts hosts off for good, unless the rules allow it (an
/// adapter's may); one that strikes after the end; a mean without an end.
Result<Outages> plan_outages(const fabric::Fabric& fabric, const fabric::Forwarding& tables,
                             std::span<const fault::Fault> faults, const OutageRules& rules,
                             const SubnetManager& manager, const Route& route);

}  // namespace holdfast::simulate
