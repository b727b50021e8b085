#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "report/markup.h"
#include "simulate/study/study_record.h"

namespace holdfast::report {

/// What a study found, for people: tables for a terminal.
std::string study_text(const simulate::study::StudyRecord& record);
/// One self-contained page: advice, throughput against failures with regression lines, whisker plots, tables.
std::string study_html(const simulate::study::StudyRecord& record);
/// A row a panel, engine and scenario (throughput), or a row a point (collectives).
std::string study_csv(const simulate::study::StudyRecord& record);
/// The record "holdfast.study-report".
nlohmann::ordered_json study_json(const simulate::study::StudyRecord& record);

/// The page's plots, each with a name for a file: "exchange-torus-5x5-lines".
std::vector<std::pair<std::string, std::string>> study_plots(const simulate::study::StudyRecord& record);

}  // namespace holdfast::report
