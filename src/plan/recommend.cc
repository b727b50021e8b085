#include "plan/recommend.h"

#include <filesystem>

#include "core/input/text_file.h"
#include "plan/calibration.h"
#include "plan/regression_database.h"

namespace holdfast::plan {
namespace {

Result<std::string> read_text(const std::string& folder, const Text& name) {
  const std::string path = (std::filesystem::path(folder) / name.value).string();
  Result<std::string> text = input::read_text_file(path);
  if (text.ok()) return text;
  return Status(text.status().code(), text.status().doing(), text.status().wrong(),
                "the path stands in " + name.source + ", relative to that file");
}

/// From a study's database, or from a record.
Result<RegressionFile> read_lines(const Machine& machine) {
  const std::string path = (std::filesystem::path(machine.folder) / machine.regression_file.value).string();
  if (is_database(path)) return read_regression_database(path, machine.regression_group.value);
  const auto text = read_text(machine.folder, machine.regression_file);
  if (!text.ok()) return text.status();
  return read_regression(text.value(), machine.regression_file.value);
}

}  // namespace

Result<Inputs> gather_inputs(Machine machine) {
  Inputs inputs;
  const std::string program = machine.overhead_pattern.given ? machine.overhead_pattern.value : "cg";
  inputs.overheads = paper_overheads(program);
  if (machine.overheads_file.given) {
    const auto text = read_text(machine.folder, machine.overheads_file);
    if (!text.ok()) return text.status();
    const auto overheads = read_overheads(text.value(), machine.overheads_file.value);
    if (!overheads.ok()) return overheads.status();
    inputs.overheads = overheads.value();
  }
  if (machine.calibration_file.given) {
    const auto text = read_text(machine.folder, machine.calibration_file);
    if (!text.ok()) return text.status();
    if (Status taken = take_calibration(text.value(), machine.calibration_file.value, machine); !taken.ok())
      return taken;
  }
  if (machine.regression_file.given) {
    auto regression = read_lines(machine);
    if (!regression.ok()) return regression.status();
    inputs.regression = std::move(regression).value();
  }
  inputs.machine = std::move(machine);
  return inputs;
}

Plan recommend(const Inputs& inputs) {
  const Machine& machine = inputs.machine;
  Plan plan{"Plan for " + machine.name.value, machine.about.value, {}};
  if (machine.has("job")) plan.sections.push_back(job_section(inputs));
  if (machine.has("corruption")) plan.sections.push_back(corruption_section(inputs));
  if (machine.has("transport")) plan.sections.push_back(transport_section(machine));
  if (machine.has("collective")) plan.sections.push_back(collective_section(machine));
  if (machine.has("fabric")) plan.sections.push_back(fabric_section(machine, inputs.regression));
  return plan;
}

}  // namespace holdfast::plan
