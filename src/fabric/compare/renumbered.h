#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "fabric/check/patterns.h"
#include "fabric/compare/comparison.h"

namespace holdfast::fabric {

/// One engine on one renumbering of a fabric.
struct RenumberedRun {
  std::uint64_t seed = 0;
  Judged judged;
  PatternShares shares;  ///< along the order of the adapters before renumbering, so that pairs are the same ones
};

/// The least, median and largest of some numbers; all 0 without any.
struct Extent {
  double least = 0;
  double median = 0;
  double most = 0;
  /// How far the largest is above the least, as a share of it.
  double spread() const { return least == 0 ? 0 : most / least - 1; }
};
Extent extent_of(std::vector<double> numbers);

/// An engine over all renumberings.
struct RenumberedEngine {
  Contender contender;
  std::vector<RenumberedRun> runs;
  std::uint64_t routed() const;
  std::uint64_t valid() const;
  Extent fullest() const;  ///< edge forwarding index, like the others over the routed ones
  Extent deviation() const;
  Extent exchange() const;
  Extent bisection() const;
};

struct RenumberingRules {
  std::uint32_t count = 10;
  std::uint64_t seed = 1;  ///< of the first; the others follow
  PatternRules patterns;
};

using RenumberedProgress = std::function<void(const RenumberedRun& run)>;

/// Runs and judges all contenders on the same `count` renumberings of the fabric: switches and adapters
/// listed and switches' ports numbered at random, LIDs given anew in that order. Options that name switches are carried
/// along. Error: the first of run().
Result<std::vector<RenumberedEngine>> compare_renumbered(const Fabric& fabric, std::span<const Contender> contenders,
                                                         const ContestRules& rules,
                                                         const RenumberingRules& renumberings,
                                                         const RenumberedProgress& progress);

/// A table for people, and the record "holdfast.fabric.renumbered".
std::string renumbered_text(std::span<const RenumberedEngine> engines);
nlohmann::ordered_json renumbered_record(const Fabric& fabric, std::span<const RenumberedEngine> engines);

}  // namespace holdfast::fabric
