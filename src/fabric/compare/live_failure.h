#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fabric/check/changes.h"
#include "fabric/compare/contender.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// New tables after a failure, and what it takes to write them into the switches.
struct Rerouted {
  Routing routing;    ///< with the tables; its times are those of the engine for this reroute
  Changes changes;    ///< against the tables before the failure
  bool anew = false;  ///< of ours: mending was not enough, everything was routed anew
};

/// What a failure of links did to a routing while it was in use.
struct LiveFailure {
  Routing before;
  /// Of OpenSM, on the clock: from its start, and from the failure, until all switches had their tables.
  std::int64_t first_sweep_wall_ns = 0;
  std::int64_t sweep_wall_ns = 0;
  std::uint64_t routes_cut = 0;   ///< routes between adapters that the failed links carried, lost until rerouted
  Fabric degraded;                ///< the fabric without the links
  std::optional<Rerouted> after;  ///< OpenSM's second sweep; of ours what reroute() mended. Nothing: no tables before
  std::optional<Rerouted> full;   ///< of ours: the engine run anew on what is left, beside mending
};

/// Routes, takes the links down and reroutes. With OpenSM that is one running OpenSM: the links are unplugged in
/// ibsim's console and a sweep is asked for. OpenSM runs on an adapter that the failure leaves connected, when there is
/// one. Errors: those of run(), and unknown links (bad_input: already down).
Result<LiveFailure> fail_live(const Contender& contender, const Fabric& fabric, const std::vector<LinkId>& links,
                              const ContestRules& rules);

/// For people, and the part "failure" of the record "holdfast.fabric.route".
std::string live_failure_text(const LiveFailure& failure);
nlohmann::ordered_json live_failure_json(const LiveFailure& failure);

}  // namespace holdfast::fabric
