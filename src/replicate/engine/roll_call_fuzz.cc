#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "replicate/engine/roll_call.h"

/// Any bytes give messages that their own lines give again, or spoil the stream; nothing grows without end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::replicate;
  RollCallReader reader;
  reader.push({reinterpret_cast<const char*>(data), size});
  while (const auto message = reader.next()) {
    std::string line = format_roll_call(*message);
    line.pop_back();
    if (parse_roll_call(line) != message) std::abort();
  }
  return 0;
}
