// Any text is either refused with a one-line message, or gives a log within its own bounds that is summarised or
// refused.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fabric/faults/failure_log.h"
#include "fabric/faults/failure_statistics.h"

namespace {

bool one_line(const holdfast::Status& status) {
  return !status.message().empty() && status.message().find('\n') == std::string::npos;
}

void require(bool held) {
  if (!held) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::fabric;
  const auto log = parse_failure_log({reinterpret_cast<const char*>(data), size}, "fuzz.log");
  if (!log.ok()) {
    require(one_line(log.status()));
    return 0;
  }
  for (const FailureLog::Entry& entry : log.value().entries) {
    require(entry.failed_s >= log.value().from_s && entry.failed_s <= log.value().to_s);
    require(!entry.repaired_s || *entry.repaired_s >= entry.failed_s);
  }
  if (log.value().entries.size() > 50) return 0;  // fits take long enough as it is
  const auto statistics = summarise(log.value(), 0.95, 1);
  if (!statistics.ok()) {
    require(one_line(statistics.status()));
    return 0;
  }
  require(!failure_statistics_text(statistics.value()).empty());
  return 0;
}
