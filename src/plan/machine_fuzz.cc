// Any text is either refused with a one-line message, or gives a machine whose numbers are within their rows' bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "plan/machine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::plan;
  const auto machine = read_machine({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!machine) {
    if (machine.status().message().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  for (const Row& row : rows()) {
    const auto* member = std::get_if<Number Machine::*>(&row.member);
    if (member == nullptr || row.key.starts_with("failures.")) continue;  // one failure rate is derived from the other
    const Number& number = machine.value().*(*member);
    if (number.given && !(number.value >= row.least && number.value <= row.most)) std::abort();
  }
  return 0;
}
