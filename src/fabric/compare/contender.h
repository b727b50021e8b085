#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "fabric/opensm/session.h"
#include "fabric/routing/engines/engine.h"
#include "fabric/routing/graph/grid.h"
#include "fabric/tables/forwarding.h"
#include "fabric/topology/fabric.h"

namespace holdfast::fabric {

/// A routing engine to compare: one of ours, or one of the real OpenSM's.
struct Contender {
  bool in_opensm = false;
  std::string engine;  ///< as its owner spells it
  /// "updn" or "opensm:updn".
  std::string label() const { return (in_opensm ? "opensm:" : "") + engine; }
  bool operator==(const Contender&) const = default;
};

/// Reads a list such as "updn,opensm:updn,opensm:torus-2qos". "native" stands for all of ours, "opensm" for all of
/// OpenSM's, "all" for both; nothing is taken twice. Error (bad_input): an unknown name, with a hint.
Result<std::vector<Contender>> parse_contenders(std::string_view text);

struct ContestRules {
  std::uint8_t lanes = 8;  ///< virtual lanes of every port
  std::vector<NodeId> roots;
  std::optional<Grid> grid;                      ///< for ours that need places; none: found
  std::string torus_config;                      ///< torus-2QoS.conf for OpenSM; empty: made for the fabric
  std::string grid_refusal;                      ///< why ours cannot place switches by that file; empty: they can
  std::int64_t time_limit_ns = 600'000'000'000;  ///< of OpenSM; ours take no limit
  unsigned threads = 1;                          ///< of each engine of ours, and of the checks
};

/// What became of one engine on one fabric.
struct Routing {
  opensm::Verdict verdict = opensm::Verdict::crashed;
  std::string reason;  ///< unless routed
  Forwarding forwarding;
  std::uint32_t lanes_needed = 0;   ///< before paths are spread over all lanes; 0: the engine does not say
  std::int64_t routing_cpu_ns = 0;  ///< the calling thread's: all there is when `threads` is 1
  std::int64_t routing_wall_ns = 0;
  std::uint64_t memory_bytes = 0;  ///< OpenSM's largest resident size; 0 for ours, which share this process
};

/// Routes. Errors: those of opensm::Session::start() for what is wrong with the fabric or the installation; an engine
/// that cannot route is a verdict.
Result<Routing> run(const Contender& contender, const Fabric& fabric, const ContestRules& rules);

/// The rules as our engines take them.
EngineOptions engine_options(const ContestRules& rules);

/// Why OpenSM's torus-2QoS cannot even be configured for the fabric; ok for whatever else is to run.
Status check_torus(const Contender& contender, const Fabric& fabric, const ContestRules& rules);

/// What to ask of OpenSM for this contender, and what it answered.
opensm::Request opensm_request(const Contender& contender, const ContestRules& rules);
Routing routing_of(opensm::Outcome outcome);

}  // namespace holdfast::fabric
