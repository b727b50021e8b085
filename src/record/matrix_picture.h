#pragma once

#include <string>
#include <vector>

#include "record/totals.h"

namespace holdfast::record {

/// Who sent how much to whom in messages and one-sided communication, as an SVG picture without a script: a row a
/// sender, a column a receiver, darker the more bytes (logarithmic). From 257 ranks on, neighbouring ranks share a
/// cell.
std::string matrix_picture(const std::vector<RankTotals>& ranks);

}  // namespace holdfast::record
