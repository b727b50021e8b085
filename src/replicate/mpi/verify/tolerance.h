#pragma once

#include <vector>

#include "replicate/engine/tolerance_place.h"

namespace holdfast::replicate {

void set_tolerance(std::vector<TolerancePlace> places);
/// Whether the user allows the copies of this message, or of this result (whose rank and tag are -1), to differ; counts
/// it when so.
bool tolerated(const TolerancePlace& place);

}  // namespace holdfast::replicate
