#include "replicate/launch/detect/preload.h"

namespace holdfast::launch {

std::string join_preload(std::string_view library, std::string_view users, bool chain) {
  std::string_view first = chain ? users : library;
  std::string_view second = chain ? library : users;
  std::string joined(first);
  if (!first.empty() && !second.empty()) joined += ':';
  return joined.append(second);
}

}  // namespace holdfast::launch
