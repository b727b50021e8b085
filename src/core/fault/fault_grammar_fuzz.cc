// Any text is either refused with a one-line message or gives faults whose text is read back as the same faults.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/fault/grammar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto faults = holdfast::fault::parse(text);
  if (!faults) {
    if (faults.status().message().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  std::string all;
  for (const holdfast::fault::Fault& fault : faults.value()) all += holdfast::fault::format(fault) + ";";
  const auto again = holdfast::fault::parse(all);
  if (!again || !(again.value() == faults.value())) std::abort();
  return 0;
}
