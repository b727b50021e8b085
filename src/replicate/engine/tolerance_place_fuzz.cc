#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "replicate/engine/tolerance_place.h"

/// Any bytes are places where copies may differ, each of which says where, or an error in a line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::replicate;
  const auto places = parse_tolerance({reinterpret_cast<const char*>(data), size});
  if (!places) {
    if (places.status().message().size() > 400 || places.status().message().find('\n') != std::string::npos)
      std::abort();
    return 0;
  }
  for (const TolerancePlace& place : places.value()) {
    if (place.rank < -1 || place.tag < -1 || place.bytes < -1) std::abort();
    if (place.fits({}) || !place.fits(place)) std::abort();
  }
  return 0;
}
