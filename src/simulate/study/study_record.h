#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/stats/regression.h"

/// What a study found, for reports. Plain values without behaviour.
namespace holdfast::simulate::study {

/// Least, greatest and the three quartiles of some measurements (definition 7 of Hyndman and Fan).
struct Quartiles {
  double least = 0, lower = 0, median = 0, upper = 0, greatest = 0;
};

/// One engine in one failure scenario, over all seeds.
struct ScenarioSummary {
  std::string label;
  double years = -1;             ///< of ageing; below 0: none
  double mean_failures = 0;      ///< components that failed: links, switches, adapters
  std::size_t measured = 0;      ///< runs with a throughput
  std::size_t asked = 0;         ///< runs that have ended in any way
  Quartiles gbytes_per_s;        ///< of those measured
  std::optional<double> change;  ///< of the median against the engine's own healthy one: -0.3 is 30 % less
  std::map<std::string, std::size_t> outcomes;
  std::string reason;  ///< of one that was not measured
};

struct Sample {
  double failures = 0;
  double gbytes_per_s = 0;
};

/// One engine on one fabric under one traffic pattern.
struct Series {
  std::string engine;
  std::vector<Sample> samples;
  std::vector<ScenarioSummary> scenarios;  ///< in the study's order
  std::optional<stats::Line>
      line;                     ///< of throughput in GB/s on failed components; none without two numbers of failures
  bool always_measured = true;  ///< no scenario had a run without a throughput
};

/// Where the best engine changes: from so many failures on the line of `to` is above that of `from`.
struct Crossing {
  std::string from, to;
  double failures = 0;
  double gbytes_per_s = 0;
};

struct Panel {
  std::string group, fabric, traffic;
  std::string options;              ///< of the simulator, as far as given: "mtu 1024, switch_latency 10us"
  std::vector<Series> series;       ///< in the study's order
  std::vector<Crossing> crossings;  ///< within what was measured, from no failures on
  std::vector<std::string> advice;  ///< sentences
  double most_failures = 0;
  std::map<std::string, std::size_t> stale{};  ///< runs behind this that would come out otherwise today, by why
};

/// A point of a study of collectives. Times in ns, intervals at the study's confidence.
struct CollectiveRow {
  std::string group;
  std::map<std::string, std::string> parameters;
  std::string scheme;  ///< "temporal x2"
  double mean_gap_ns = 0, bit_error_rate = 0, bytes = 0;
  double root_ns = 0, root_low_ns = 0, root_high_ns = 0;
  double last_ns = 0, last_low_ns = 0, last_high_ns = 0;
  std::uint64_t collectives = 0, incomplete = 0, wrong = 0;
};

struct StudyRecord {
  std::string name, kind, title;
  std::size_t points = 0, finished = 0;
  double cpu_s = 0;
  std::map<std::string, std::size_t> outcomes;
  std::map<std::string, std::size_t> stale;     ///< runs shown that would come out otherwise today, by why
  std::map<std::string, std::size_t> outdated;  ///< runs of the same questions that are kept and not shown, by why
  std::vector<Panel> panels;                    ///< of throughput
  std::vector<CollectiveRow> collectives;       ///< of collectives
};

}  // namespace holdfast::simulate::study
