#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "simulate/predict/prediction_record.h"

namespace holdfast::report {

/// The table, the fullest links and the advice, for a terminal.
std::string prediction_text(const simulate::predict::PredictionRecord& record);

/// One page that needs nothing from outside: scenarios as bars, the table, what ranks did on the healthy fabric and in
/// the slowest scenario, links, advice, and what rests on a guess.
std::string prediction_html(const simulate::predict::PredictionRecord& record);

/// Of that page, for one that has several: scenarios as bars, advice, the table.
std::string prediction_section(const simulate::predict::PredictionRecord& record);

/// {"record": "holdfast.prediction", "version": 1, ...}
nlohmann::ordered_json prediction_json(const simulate::predict::PredictionRecord& record);

}  // namespace holdfast::report
