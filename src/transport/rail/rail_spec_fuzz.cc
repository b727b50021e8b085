// Any text is either refused with a one-line message, or gives rails whose text is read back as the same rails.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "transport/rail/rail_spec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::transport;
  const auto rails = parse_rails({reinterpret_cast<const char*>(data), size});
  if (!rails.ok()) {
    if (rails.status().message().empty()) std::abort();
    return 0;
  }
  std::string all;
  for (const RailSpec& rail : rails.value()) all += rail.text() + ",";
  const auto again = parse_rails(all);
  if (!again.ok() || again.value() != rails.value()) std::abort();
  return 0;
}
