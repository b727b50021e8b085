#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/predict/prediction_record.h"

namespace holdfast::simulate::predict {

/// The failures in which the links that this list has as noisy or slow for the whole run are taken out instead, so that
/// traffic is routed around them; in the grammar's own words. None: it has no such link, or is no list of faults.
std::optional<std::string> with_links_isolated(std::string_view failures);

/// For each failure list with such links a sentence: whether to take them out, from the runs with and without, or which
/// failures to ask for to hear of it. In the order of `outlooks`.
std::vector<std::string> advise_isolation(const std::vector<Outlook>& outlooks);

}  // namespace holdfast::simulate::predict
