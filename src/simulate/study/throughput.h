#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/settings.h"
#include "core/fault/fault.h"
#include "core/status/status.h"
#include "fabric/compare/contender.h"
#include "fabric/faults/failures.h"
#include "simulate/packet/parameters.h"
#include "simulate/study/study.h"
#include "simulate/traffic/pattern.h"

namespace holdfast::simulate::study {

class Preparations;

/// What has failed: by a list of faults, or with age.
struct Scenario {
  std::string label;                 ///< "none", "fail-link share 1%", "tsubame2 3 years"
  std::vector<fault::Fault> faults;  ///< none: a healthy fabric, or an aged one
  std::optional<fabric::Ageing> ageing;
  bool healthy() const { return faults.empty() && (!ageing || ageing->years <= 0); }
};

/// One point: a fabric with what failed, routed by one engine, under one traffic pattern.
struct ThroughputPoint {
  std::string fabric;  ///< a topology, or the path of a file
  /// What stood in the file when the study was read, which is what its key tells; null for a topology, and for a file
  /// that is to be read when it is wanted.
  std::shared_ptr<const std::string> fabric_text{};
  fabric::Contender engine;
  unsigned lanes = 8;
  Scenario scenario;
  std::uint64_t seed = 1;  ///< of the failures and of the traffic
  TrafficSpec traffic;
  Time limit_ps = never;  ///< of simulated time
};

/// Builds, damages, routes, checks and simulates. Outcomes: "measured"; "refused" (the engine said no), "timed out" and
/// "crashed" (OpenSM did), "lost pairs" (tables are incomplete), "deadlock" and "stuck" (as the simulator found), and
/// "time limit" (a finite pattern had not ended). Deterministic. Errors: a fabric that cannot be had or is no network,
/// OpenSM not installed.
Result<Finished> measure(const ThroughputPoint& point, const Parameters& parameters);
/// The same, with what other points have prepared already (prepared.h).
Result<Finished> measure(const ThroughputPoint& point, const Parameters& parameters, Preparations& preparations);

/// The parts of the study file (docs/spec/study.md).
struct ThroughputFile {
  std::string name, title;
  /// The simulator's options: [simulate] as "default", then it with each [options.NAME] over it.
  struct OptionSet {
    std::string name;
    config::Settings<Parameters> settings{parameters_table()};
  };
  std::vector<OptionSet> options;
  struct Placed {
    std::string group;
    ThroughputPoint point;
    std::size_t options = 0;  ///< index of its set
  };
  std::vector<Placed> points;
};
Result<ThroughputFile> read_throughput_file(std::string_view text, std::string_view name);

}  // namespace holdfast::simulate::study
