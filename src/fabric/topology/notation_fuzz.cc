#include <cstdlib>

#include "fabric/topology/closed_form.h"
#include "fabric/topology/generate.h"

/// Any text gives a topology that format() writes and parse_topology() reads back, or an error; a small one is built.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto topology = fabric::parse_topology(text);
  if (!topology.ok()) return 0;
  auto again = fabric::parse_topology(fabric::format(topology.value()));
  if (!again.ok() || !(again.value() == topology.value())) std::abort();
  std::uint64_t numbers = topology.value().links;
  for (const auto& list : topology.value().arguments) {
    for (std::uint32_t number : list) numbers = numbers > 1000 ? numbers : numbers * (number + 1);
  }
  if (numbers > 1000 || topology.value().hosts.value_or(0) > 1000 ||
      topology.value().hosts_per_switch.value_or(0) > 100)
    return 0;
  auto fabric = fabric::generate(topology.value());
  if (!fabric.ok()) return 0;
  const auto form = fabric::closed_form(topology.value());
  if (form && (form->switches != fabric.value().switch_count() || form->hosts != fabric.value().adapter_count()))
    std::abort();
  return 0;
}
