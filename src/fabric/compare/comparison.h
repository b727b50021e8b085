#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "fabric/compare/contender.h"

namespace holdfast::fabric {

/// One engine on one fabric, judged by our checks, which share no code with any engine.
struct Judged {
  Contender contender;
  Routing routing;  ///< without the tables: they are dropped once judged
  std::uint64_t lost_pairs = 0;
  std::uint64_t disconnected_pairs = 0;  ///< no cable leads there
  std::uint64_t credit_loops = 0;        ///< strongly connected parts of the channel dependency graph
  std::string example;                   ///< one of the credit loops, or a lost pair
  unsigned lanes = 0;                    ///< that paths between adapters use
  std::uint32_t longest_path = 0;        ///< switch-to-switch links
  double mean_path = 0;
  std::uint64_t forwarding_index = 0;  ///< edge forwarding index: routes over the fullest channel
  double forwarding_index_deviation = 0;
  bool routed() const { return routing.verdict == opensm::Verdict::routed; }
  /// Every pair that cables connect has a route, and no traffic can deadlock.
  bool valid() const { return routed() && lost_pairs == 0 && credit_loops == 0; }
};

/// Judges what run() gave.
Judged judge(const Contender& contender, const Fabric& fabric, Routing routing, unsigned threads);

/// Called from one thread at a time when an engine has been judged.
using Progress = std::function<void(const Judged& judged, std::size_t done, std::size_t all)>;

/// Runs and judges all contenders, `jobs` at a time (0: as many as the machine has processors), and ranks them: valid
/// ones first, by edge forwarding index, mean path and routing time; then those with credit loops, with lost pairs, and
/// without tables. Error: the first of run().
Result<std::vector<Judged>> compare(const Fabric& fabric, std::span<const Contender> contenders,
                                    const ContestRules& rules, unsigned jobs, const Progress& progress);

/// A table for people, a line an engine, and below it why those without tables have none.
std::string comparison_text(std::span<const Judged> ranking);

/// An array with an object an engine: verdict, reason and figures.
nlohmann::ordered_json judged_json(std::span<const Judged> ranking);

/// The record "holdfast.fabric.compare".
nlohmann::ordered_json comparison_record(const Fabric& fabric, std::span<const Judged> ranking);

}  // namespace holdfast::fabric
