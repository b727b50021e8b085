#include "simulate/predict/isolation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/fault/grammar.h"
#include "core/stats/moments.h"

namespace holdfast::simulate::predict {
namespace {

constexpr double least_difference = 0.005;  ///< that is worth a hand on a cable

bool is_bad_for_good(const fault::Fault& fault) {
  return (fault.kind == fault::Kind::noisy_link || fault.kind == fault::Kind::slow_link) &&
         std::holds_alternative<fault::AtOnce>(fault.when) && fault.lasts_ns == 0;
}

std::string in_words(const std::vector<fault::Fault>& faults) {
  std::string words;
  for (const fault::Fault& each : faults) words += (words.empty() ? "" : "; ") + fault::format(each);
  return words;
}

/// Lists that say the same are the same; what is no list stays as it is.
std::string canonical(const std::string& failures) {
  const auto faults = fault::parse(failures);
  return faults.ok() ? in_words(faults.value()) : failures;
}

bool differ_by_failures_alone(const Outlook& one, const Outlook& other) {
  return one.engine == other.engine && one.placement == other.placement && one.replicas == other.replicas &&
         one.sender == other.sender && one.collectives == other.collectives;
}

/// Runs with the links in use, and those without them.
struct Comparison {
  stats::Moments ratio;  ///< of times, with to without
  double least = 0, most = 0;
  std::size_t runs_with = 0, ended_with = 0, runs_without = 0, ended_without = 0;

  void add(const Outlook& with, const Outlook& without) {
    runs_with += with.asked, ended_with += with.measured;
    runs_without += without.asked, ended_without += without.measured;
    if (with.measured == 0 || without.measured == 0 || without.time_s.mean <= 0) return;
    const double here = with.time_s.mean / without.time_s.mean;
    least = ratio.count() == 0 ? here : std::min(least, here);
    most = ratio.count() == 0 ? here : std::max(most, here);
    ratio.add(here);
  }
};

std::string verdict(const std::string& failures, const Comparison& found) {
  // Of one share of runs to another, exactly.
  const std::size_t with = found.ended_with * found.runs_without, without = found.ended_without * found.runs_with;
  if (with != without)
    return fmt::format("{} the links of '{}': with them the job ended in {} of {} runs, without in {} of {}.",
                       with < without ? "Isolate" : "Do not isolate", failures, found.ended_with, found.runs_with,
                       found.ended_without, found.runs_without);
  if (found.ratio.count() == 0) return fmt::format("With the links of '{}' or without, no run ended.", failures);
  const double ratio = found.ratio.mean();
  const std::string times = fmt::format("with them the job takes {:.3f} times as long as without ({:.3f} to {:.3f})",
                                        ratio, found.least, found.most);
  if (std::abs(ratio - 1) < least_difference)
    return fmt::format("To isolate the links of '{}' or not makes no difference: {}.", failures, times);
  return fmt::format("{} the links of '{}': {}.", ratio > 1 ? "Isolate" : "Do not isolate", failures, times);
}

}  // namespace

std::optional<std::string> with_links_isolated(std::string_view failures) {
  const auto faults = fault::parse(failures);
  if (!faults.ok() || std::ranges::none_of(faults.value(), is_bad_for_good)) return std::nullopt;
  std::vector<fault::Fault> instead;
  for (const fault::Fault& each : faults.value()) {
    fault::Fault one = each;
    if (is_bad_for_good(each)) {
      one = {};
      one.kind = fault::Kind::fail_link;
      one.place = each.place;
    }
    if (std::ranges::find(instead, one) == instead.end()) instead.push_back(std::move(one));
  }
  return in_words(instead);
}

std::vector<std::string> advise_isolation(const std::vector<Outlook>& outlooks) {
  std::vector<std::string> advice;
  std::set<std::string> told;
  for (const Outlook& outlook : outlooks) {
    const auto instead = with_links_isolated(outlook.failures);
    if (!instead || !told.insert(outlook.failures).second) continue;
    Comparison found;
    bool asked = false;
    for (const Outlook& with : outlooks)
      for (const Outlook& without : outlooks) {
        if (with.failures != outlook.failures || canonical(without.failures) != *instead) continue;
        if (!differ_by_failures_alone(with, without)) continue;
        asked = true;
        found.add(with, without);
      }
    advice.push_back(asked ? verdict(outlook.failures, found)
                           : fmt::format("Whether to isolate the links of '{}': --fail '{}' beside it would tell.",
                                         outlook.failures, *instead));
  }
  return advice;
}

}  // namespace holdfast::simulate::predict
