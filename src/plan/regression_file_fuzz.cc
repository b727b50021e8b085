// Any text is either refused with a one-line message, or gives engines with finite lines.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "plan/overheads.h"
#include "plan/regression_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::plan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto overheads = read_overheads(text, "fuzz.json");
  if (overheads.ok() && !(overheads.value().at(3) > 0)) std::abort();
  const auto file = read_regression(text, "fuzz.json");
  if (!file.ok()) {
    if (file.status().message().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (file.value().engines.empty()) std::abort();
  for (const EngineLine& engine : file.value().engines) {
    if (!std::isfinite(engine.at(1e9)) || !(engine.intercept > 0)) std::abort();
  }
  return 0;
}
