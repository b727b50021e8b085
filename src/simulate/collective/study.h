#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/status/status.h"
#include "simulate/collective/sampling.h"

/// A study file: groups of points, each the product of the lists it gives. docs/spec/study.md.
namespace holdfast::simulate::collective {

struct StudyPoint {
  std::string group;
  std::string assumptions;  ///< the name of the set
  SamplePlan plan;
};

struct Study {
  std::string name;
  std::string fabric;  ///< the generator's notation
  std::vector<StudyPoint> points;
};

/// Reads a study; `name` says in messages where the text is from. Errors (bad_input): syntax, unknown keys and names
/// with a hint, values out of range; each with its line.
Result<Study> read_study(std::string_view text, std::string_view name);
/// The same for a file. Errors besides: not_found, io.
Result<Study> read_study_file(const std::string& path);

/// One row of the results: the point and what was measured.
struct StudyRow {
  StudyPoint point;
  Sample sample;
  double seconds = 0;  ///< of one core
};

/// Runs all points on this many threads (0: all cores) and returns the rows in the order of the points, whatever the
/// number of threads. `done` is called under a lock after each point with how many are finished.
Result<std::vector<StudyRow>> run_study(const Study& study, unsigned threads,
                                        const std::function<void(std::size_t)>& done);

/// All that a point's result depends on; and the result, times in ns.
nlohmann::ordered_json parameters_json(const StudyPoint& point);
nlohmann::ordered_json sample_json(const Sample& sample);

/// {"record": "holdfast.collective-study", "version": 1, "study": ..., "rows": [...]}.
nlohmann::ordered_json study_record(const Study& study, const std::vector<StudyRow>& rows);
/// The rows as CSV with a heading.
std::string study_csv(const std::vector<StudyRow>& rows);

}  // namespace holdfast::simulate::collective
