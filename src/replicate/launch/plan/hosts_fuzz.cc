#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <string_view>

#include "replicate/launch/plan/hosts.h"

/// Any bytes are a host file and what Slurm says of its nodes: hosts of different names with slots that can be added
/// up, or an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::launch;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto hosts = parse_hostfile(text, "hosts"); hosts.ok()) {
    std::set<std::string> names;
    long slots = 0;
    for (const Host& host : hosts.value()) {
      if (host.name.empty() || host.slots < 1 || !names.insert(host.name).second) std::abort();
      slots += host.slots;
    }
    if (names.empty() || slots > std::numeric_limits<int>::max()) std::abort();
  }
  if (const auto counts = parse_slurm_counts(text); counts.ok()) {
    if (counts.value().empty() || counts.value().size() > 1'000'000) std::abort();
    for (const int count : counts.value())
      if (count < 1 || count > 1'000'000) std::abort();
  }
  return 0;
}
