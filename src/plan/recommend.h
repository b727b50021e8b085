#pragma once

#include <cstdint>
#include <optional>

#include "core/status/status.h"
#include "plan/machine.h"
#include "plan/overheads.h"
#include "plan/plan_record.h"
#include "plan/regression_file.h"

namespace holdfast::plan {

/// Everything that a recommendation rests on; files that the machine description names have been read.
struct Inputs {
  Machine machine;
  Overheads overheads;                       ///< used when the machine has a [job]
  std::optional<RegressionFile> regression;  ///< used when it has a [fabric]
  std::uint64_t seed = 1;                    ///< of the simulation that stands beside the job's model
};

/// Reads the files that the description names: overheads and regression, relative to its folder. Errors: those of the
/// files, named.
Result<Inputs> gather_inputs(Machine machine);

/// One section for each question that the description's tables ask: job, corruption, transport, collective, fabric.
Plan recommend(const Inputs& inputs);

/// The parts, each from its own tables. `job_section` covers [job] with [failures] and [checkpoint]. A part's section
/// names the source of every number.
Section job_section(const Inputs& inputs);
Section corruption_section(const Inputs& inputs);
Section transport_section(const Machine& machine);
Section collective_section(const Machine& machine);
Section fabric_section(const Machine& machine, const std::optional<RegressionFile>& regression);

}  // namespace holdfast::plan
