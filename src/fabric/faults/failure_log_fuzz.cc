#include "fabric/faults/failure_log.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fabric/faults/failure_statistics.h"

/// No text may do anything but give a log or an error, and no log anything but statistics or an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::fabric;
  const auto log = parse_failure_log(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!log.ok() || log.value().entries.empty()) return 0;
  const auto statistics = summarise(log.value(), 0.95, 1);
  if (!statistics.ok() || failure_statistics_text(statistics.value()).empty()) std::abort();
  return 0;
}
