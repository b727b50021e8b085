#include <cstddef>
#include <cstdint>

#include "simulate/packet/arbitration.h"

/// Any bytes are read or refused; tables never have more than 64 entries, nor a lane that is none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::simulate;
  const auto tables = read_arbitration({reinterpret_cast<const char*>(data), size}, 15);
  if (!tables.ok()) return 0;
  for (const auto* table : {&tables.value().high, &tables.value().low}) {
    if (table->size() > 64) __builtin_trap();
    for (const Arbitration::Entry& entry : *table)
      if (entry.lane > 14) __builtin_trap();
  }
  return 0;
}
