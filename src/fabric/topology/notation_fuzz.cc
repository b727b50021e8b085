#include <cstdlib>

#include "fabric/topology/closed_form.h"
#include "fabric/topology/generate.h"

namespace {

using holdfast::fabric::Family;

/// Whether it has a thousand switches at most: by the product of its numbers, and where they are base and exponent by
/// the power (kautz(64,3) has 266,240).
bool is_small(const holdfast::fabric::Topology& topology) {
  constexpr std::uint64_t most = 1000;
  std::uint64_t size = std::uint64_t{topology.links} * topology.planes;
  const auto grow = [&](std::uint64_t by) { size = size > most ? size : size * (by + 1); };
  for (const auto& list : topology.arguments)
    for (const std::uint32_t number : list) grow(number);
  if (topology.family == Family::tree || topology.family == Family::kautz) {
    const auto& numbers = topology.arguments[0];
    for (std::uint32_t i = 1; i < numbers[1] && size <= most; ++i) grow(numbers[0]);
  }
  return size <= most && topology.hosts.value_or(0) <= most && topology.hosts_per_switch.value_or(0) <= 100;
}

}  // namespace

/// Any text gives a topology that format() writes and parse_topology() reads back, or an error; a small one is built.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto topology = fabric::parse_topology(text);
  if (!topology.ok()) return 0;
  auto again = fabric::parse_topology(fabric::format(topology.value()));
  if (!again.ok() || !(again.value() == topology.value())) std::abort();
  if (!is_small(topology.value())) return 0;
  auto fabric = fabric::generate(topology.value());
  if (!fabric.ok()) return 0;
  const auto form = fabric::closed_form(topology.value());
  if (form && (form->switches != fabric.value().switch_count() || form->hosts != fabric.value().adapter_count()))
    std::abort();
  return 0;
}
