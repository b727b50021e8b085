#pragma once

#include <string>

namespace holdfast::replicate {

/// Whether one of the shell patterns (fnmatch(3), with ':' between them) fits a whole path, or the name at its end.
/// What replicate.files_may_differ means.
bool fits_a_pattern(const std::string& path, const std::string& patterns);

}  // namespace holdfast::replicate
