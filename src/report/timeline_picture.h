#pragma once

#include <string>

#include "simulate/predict/prediction_record.h"

namespace holdfast::report {

/// What ranks did over a run, a row a rank: computing, in calls for messages, in collectives, as stacked columns. SVG
/// without anything from outside.
std::string timeline_picture(const std::string& title, const simulate::predict::RunTimeline& timeline);

}  // namespace holdfast::report
