#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "simulate/packet/arbitration.h"
#include "simulate/traffic/pattern.h"

/// What is read can be written and read again as the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::simulate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto spec = parse_traffic(text);
  if (spec.ok()) {
    const std::string written = format_traffic(spec.value());
    const auto again = parse_traffic(written);
    if (!again.ok() || format_traffic(again.value()) != written) std::abort();
  }
  (void)read_arbitration(text, 15).ok();
  return 0;
}
