#pragma once

#include <string>

namespace holdfast::replicate {

/// Which job this process belongs to, as `holdfast run` named it: stands in every file that it leaves for the launcher,
/// which believes no other job's. Letters and digits; empty without `holdfast run`.
const std::string& job_identity();

}  // namespace holdfast::replicate
