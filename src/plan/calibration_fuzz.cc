// Any text, as what 'holdfast calibrate' wrote, is either refused with a one-line message and changes nothing, or gives
// numbers within the bounds of what they stand for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plan/calibration.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::plan;
  Machine machine;
  const auto status = take_calibration({reinterpret_cast<const char*>(data), size}, "fuzz.toml", machine);
  if (!status.ok()) {
    if (status.message().find('\n') != std::string::npos) std::abort();
    if (machine.fragment_cost_s.given || machine.copy_bit_per_s.given) std::abort();
    return 0;
  }
  for (const Row& row : rows()) {
    const auto* member = std::get_if<Number Machine::*>(&row.member);
    if (member == nullptr || !(machine.*(*member)).given) continue;
    const double value = (machine.*(*member)).value;
    if (!(value >= row.least && value <= row.most)) std::abort();
  }
  return 0;
}
