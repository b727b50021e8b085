#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "simulate/job/placement.h"

/// Any text is a list of hosts that can be worked with, or is refused in a line. Of few hosts: a million of them are no
/// other way through the code than a thousand, and take a tenth of a second.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::simulate::job;
  constexpr std::size_t most = 1000;
  const auto hosts = parse_node_list({reinterpret_cast<const char*>(data), size}, "the list", most);
  if (!hosts.ok()) return 0;
  if (hosts.value().empty() || hosts.value().size() > most) std::abort();
  for (const NamedHost& host : hosts.value())
    if (host.name.empty() || host.name.size() > 300) std::abort();
  return 0;
}
