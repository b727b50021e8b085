#pragma once

#include <cstdint>

#include "plan/plan_record.h"

namespace holdfast::plan {

/// The job-efficiency figures of RedMPI, section 1 (Tables 2 and 3) and section 7 (200,000 unprotected against 400,000
/// paired nodes), from the closed form and from the simulation beside it, next to what the paper prints. Section 7
/// gives the costs: a checkpoint takes five minutes, a restart ten. Takes a few seconds. `seed` is the simulation's.
Plan redmpi_tables(std::uint64_t seed);

}  // namespace holdfast::plan
