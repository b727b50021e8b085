#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/stats/confidence.h"
#include "core/stats/weibull.h"
#include "fabric/faults/failure_log.h"

namespace holdfast::fabric {

inline constexpr double seconds_per_year = 365.25 * 86'400;

/// Something that was estimated, with its interval where there is enough for one.
struct Estimate {
  double value = 0;
  std::optional<stats::Interval> interval{};
};

/// One kind of parts, or all of them, as Domke et al., SC 2014, Table I and section II have them.
struct KindStatistics {
  std::uint64_t parts = 0;
  std::uint64_t failures = 0, repairs = 0;
  double share = 0;                     ///< of all failures
  std::optional<Estimate> between_s{};  ///< mean time between failures anywhere in the network
  std::optional<Estimate> repair_s{};   ///< mean time to repair, of those with a repair
  std::optional<double> repair_median_s{};
  double years = 0;                       ///< that the parts were observed at work, all together
  Estimate a_year;                        ///< failures a part and year
  std::optional<stats::Weibull> lives{};  ///< of parts since they were new or repaired; ages in years, horizon one year
  std::string no_fit;                     ///< why there is none
  double fit_p = 0;                       ///< goodness of fit, by 199 samples
};

/// What a log says. A part's life begins with the observation, and anew with each repair; what works at the end is
/// censored there. Intervals of times between failures and rates are exact for a constant rate (of the Poisson
/// distribution), that of the mean time to repair is Student's.
struct FailureStatistics {
  double confidence = 0.95;
  std::array<KindStatistics, 3> kinds;  ///< by ageing_components
  KindStatistics all;                   ///< lives: of all parts, as if they were alike
  double observed_years = 0;

  /// As a study's [ageing.NAME]: what fails within the first year, of each kind by its own fit, or where there is none
  /// by its rate; and the shape of all.
  Ageing ageing() const;
};

/// The seed is of the goodness of fit. Error (bad_input): no failures at all, a confidence outside (0, 1).
Result<FailureStatistics> summarise(const FailureLog& log, double confidence, std::uint64_t seed);

/// For people, and as the record holdfast.fabric.ageing, version 1.
std::string failure_statistics_text(const FailureStatistics& statistics);
nlohmann::ordered_json failure_statistics_record(const FailureStatistics& statistics);

}  // namespace holdfast::fabric
