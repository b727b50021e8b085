#include "core/stats/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/stats/quantile.h"

namespace holdfast::stats {
namespace {

bool all_positive(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value) && value > 0; });
}

Status check(std::span<const double> mine, std::span<const double> peer, double confidence) {
  const std::string doing = "comparing paired measurements";
  if (mine.empty() || mine.size() != peer.size()) {
    return {Code::bad_input, doing, std::to_string(mine.size()) + " and " + std::to_string(peer.size()) + " of them",
            "measure both in each round"};
  }
  if (!all_positive(mine) || !all_positive(peer)) {
    return {Code::bad_input, doing, "one of the values is not above 0", "leave failed measurements out"};
  }
  if (!(confidence > 0 && confidence < 1)) {
    return {Code::bad_input, doing, "the confidence is not between 0 and 1", "give 0.95"};
  }
  return {};
}

}  // namespace

Result<PairedRatio> paired_ratio(std::span<const double> mine, std::span<const double> peer, double confidence) {
  if (Status status = check(mine, peer, confidence); !status) return status;
  std::vector<double> ratios(mine.size());
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = mine[i] / peer[i];
  PairedRatio result;
  result.pairs = ratios.size();
  result.ratio_of_medians = median(mine).value() / median(peer).value();
  result.median_of_ratios = median(ratios).value();
  if (const auto interval = median_interval(ratios, confidence); interval.ok()) {
    result.has_interval = true;
    result.interval = interval.value();
  }
  return result;
}

}  // namespace holdfast::stats
