#include "replicate/engine/file_patterns.h"

#include <fnmatch.h>

#include <algorithm>

namespace holdfast::replicate {

bool fits_a_pattern(const std::string& path, const std::string& patterns) {
  const std::string name = path.substr(path.rfind('/') + 1);
  for (std::size_t at = 0; at < patterns.size();) {
    const std::size_t end = std::min(patterns.find(':', at), patterns.size());
    const std::string pattern = patterns.substr(at, end - at);
    if (::fnmatch(pattern.c_str(), path.c_str(), 0) == 0 || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
      return true;
    at = end + 1;
  }
  return false;
}

}  // namespace holdfast::replicate
