#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fault/fault.h"
#include "core/status/status.h"
#include "fabric/topology/fabric.h"

/// Components of a fabric that fail: as a list of faults says, or as they age.
namespace holdfast::fabric {

enum class Component : std::uint8_t { link, switch_, port, adapter };
std::string_view name(Component component);

/// One component that has failed.
struct Failure {
  Component component = Component::link;
  std::uint32_t id = none;      ///< LinkId, NodeId or PortId
  bool critical = false;        ///< it disconnected hosts that were connected when it happened
  double years = 0;             ///< when, as the components age; 0 for faults from the start
  std::vector<LinkId> links{};  ///< that went down with it
};
/// "link s-0-1/7 - s-1-0/2", "switch s-1-0".
std::string describe(const Fabric& fabric, const Failure& failure);

/// What became of the fabric, in the order in which it happened.
struct Failures {
  std::vector<Failure> failed;
  /// Components that were drawn and left working because their loss would have disconnected hosts.
  std::vector<Failure> spared;
};

struct FailureRules {
  std::uint64_t seed = 1;
  bool critical_too = false;  ///< what is chosen at random may disconnect hosts
  std::int64_t until_ns =
      -1;  ///< faults of a later moment have not happened yet; -1: all with a moment of their own have
};

/// Marks as down what the faults of docs/spec/faults.md name: fail-link, fail-switch, fail-port, fail-hca. A share is
/// of the switch-to-switch links, of all switches, switch ports with a working cable, or adapters, rounded down (1 % of
/// 256 links are 2, as in Domke et al., SC 2014, V-B), and random; what would disconnect hosts is passed over, and
/// another drawn, unless the rules allow it. Adapters fail in any case. What a fault names by itself fails even when
/// that disconnects hosts, and the failure is marked so. `link "a" "b"` is one working cable between the two. Errors
/// (bad_input): other faults, unknown names, a mean without rules.until_ns.
Result<Failures> fail(Fabric& fabric, std::span<const fault::Fault> faults, const FailureRules& rules);

/// How a fabric ages: every component by itself fails at a random time of the Weibull distribution with this shape, of
/// which the annual rate is the part that fails within the first year. Domke et al., SC 2014, section II: shapes 0.76
/// (Deimos), 0.95 (LANL) and 1.07 (TSUBAME2.0); 1 is a constant rate.
struct Ageing {
  double years = 0;
  double link_rate = 0;     ///< of switch-to-switch links, a year, 0 to below 1
  double switch_rate = 0;   ///< of switches
  double adapter_rate = 0;  ///< of adapters
  double shape = 1;
  /// Links that fail for each switch that fails, in place of switch_rate: 13 for TSUBAME2.0, 2 for Deimos (section
  /// V-D).
  std::optional<double> links_per_switch{};
};

/// Marks as down what has failed after these years, in order of time. The same seed with more years gives the same
/// failures and more. What would disconnect hosts is spared unless the rules allow it; adapters are not.
/// Errors (bad_input): rates or shape out of bounds.
Result<Failures> age(Fabric& fabric, const Ageing& ageing, const FailureRules& rules);

}  // namespace holdfast::fabric
