#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/check/bisection.h"
#include "fabric/check/changes.h"
#include "fabric/check/credit_loops.h"
#include "fabric/check/paths.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/topology/hosts.h"

namespace holdfast::fabric {

/// What tables do to a fabric, in the numbers that one compares routings by.
struct RoutingHealth {
  std::string engine;   ///< empty: tables from outside
  std::string refusal;  ///< why there are none
  std::uint64_t lost = 0;
  std::uint64_t disconnected = 0;
  std::uint64_t switches_lost = 0;
  unsigned lanes = 0;
  double mean_hops = 0;
  std::vector<std::uint64_t> hops;  ///< pairs by links between switches
  Spread index;                     ///< of edge forwarding
  std::vector<std::string> loops;   ///< credit loops, printed
  std::vector<std::string> losses;  ///< lost pairs, the first few, printed
  std::vector<std::string> busiest_links;
  std::vector<std::string> busiest_switches;

  bool routed() const { return refusal.empty(); }
  /// Every pair that cables connect has a route, and nothing can deadlock.
  bool good() const { return routed() && lost == 0 && loops.empty(); }
};
RoutingHealth examine_tables(const Fabric& fabric, const Forwarding& tables, unsigned threads = 0);
/// Routes by an engine of ours, then examines.
RoutingHealth examine_engine(const Fabric& fabric, std::string_view engine, const EngineOptions& options);

/// The state of a fabric.
struct Health {
  HostCount there;                  ///< computers, adapters, aggregation nodes
  std::uint64_t hosts = 0;          ///< adapter ports with a LID
  std::uint64_t hosts_cut_off = 0;  ///< of them, those without a working cable or outside the largest connected part
  std::uint64_t switches = 0;
  std::uint64_t switches_cut_off = 0;    ///< without any working cable to another switch
  std::uint64_t links = 0;               ///< between switches, working
  std::uint64_t links_down = 0;          ///< between switches, there and dead
  std::vector<std::string> shared_lids;  ///< that two ports have
  std::vector<std::string> slow_links;   ///< that came up slower or narrower than both their ports can
  std::vector<std::string> missing;      ///< links of the healthy fabric that this one lacks
  Bisection bisection;
  std::optional<RoutingHealth> tables;  ///< today's, if given
  std::vector<RoutingHealth> outlook;   ///< what engines would give

  /// Nothing for an administrator to repair: no host cut off, no cable dead, slow or missing, no LID on
  /// two ports, and today's tables good.
  bool good() const;
};

struct HealthOptions {
  EngineOptions engine;
  std::vector<std::string> engines;  ///< to look at, by name
  const Forwarding* tables = nullptr;
  const Fabric* healthy = nullptr;  ///< the same fabric as it should be
};
Health examine(const Fabric& fabric, const HealthOptions& options);

/// Whether links may be isolated.
struct WhatIf {
  std::vector<std::string> links;
  std::vector<std::string> down_already;  ///< of them
  std::vector<std::string> hosts_lost;    ///< hosts that they alone connect
  std::uint64_t parallel_left = 0;        ///< working links between the same two nodes as the first, apart from them
  std::uint64_t routes_cut = 0;           ///< until the tables are mended
  RoutingHealth before;
  RoutingHealth after;  ///< mended by reroute()
  Changes changes;
  bool given = false;  ///< the tables were given, not computed
  bool anew = false;   ///< mending was not enough: everything was routed anew
  bool critical() const { return !hosts_lost.empty(); }
  /// No host is cut off and the engine still routes everything without credit loops that were not there before.
  bool allowed() const { return !critical() && after.routed() && after.lost == 0 && (after.good() || !before.good()); }
};

struct WhatIfOptions {
  /// The engine that routes and mends. Empty: updn, or with given tables one that keeps what they promise: dfsssp when
  /// they have no credit loops, minhop when they have.
  std::string engine;
  EngineOptions routing;
  const Forwarding* tables = nullptr;  ///< today's; null: computed by the engine
};

/// Takes down these links together, with routes before and after. Errors: as route(), of the fabric as it is.
Result<WhatIf> what_if(const Fabric& fabric, const std::vector<LinkId>& links, const WhatIfOptions& options);

/// For people, and the records "holdfast.fabric.check", "holdfast.fabric.what-if" and "holdfast.fabric.route".
std::string health_text(const Health& health);
nlohmann::ordered_json health_record(const Health& health);
std::string what_if_text(const WhatIf& answer);
nlohmann::ordered_json what_if_record(const WhatIf& answer);
std::string routing_text(const RoutingHealth& routing);
nlohmann::ordered_json routing_record(const RoutingHealth& routing);

}  // namespace holdfast::fabric
