#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "simulate/predict/prediction_record.h"

/// What a study of predictions found: recordings on fabrics side by side, and what each protection costs on which.
namespace holdfast::report {

using Predictions = std::span<const simulate::predict::PredictionRecord>;

/// Of one alone: prediction_text(). Of several: two tables with a column for each protection (replicas, sender,
/// collectives) and a row for each failure; of times, as ratios to the job without any on the fabric as it is given,
/// and of what a failure costs beside the same protection without it.
std::string predictions_text(Predictions predictions);

/// Of one alone: prediction_html(). Of several: a page with both tables, and each one's scenarios and advice.
std::string predictions_html(Predictions predictions);

/// A row for each scenario.
std::string predictions_csv(Predictions predictions);

/// {"record": "holdfast.predictions", "version": 1, "predictions": [prediction_json()]}.
nlohmann::ordered_json predictions_json(Predictions predictions);

}  // namespace holdfast::report
