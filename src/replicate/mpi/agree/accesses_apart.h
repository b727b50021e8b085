#pragma once

#include <string>

namespace holdfast::replicate {

/// Where several threads communicate: an access of a file with an explicit offset that this replica made at one place
/// and others at another, for a person; empty where there is none. Of use when both have waited for long: until then
/// the threads may only be late.
std::string accesses_apart();

}  // namespace holdfast::replicate
