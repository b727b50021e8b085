#include <cstdlib>

#include "fabric/faults/difference.h"
#include "fabric/formats/discovery.h"
#include "fabric/formats/source.h"

/// Any text gives a fabric that can be written and read back as the same one, or an error with a place.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto read = fabric::read_fabric(text, "input");
  if (!read.ok()) {
    if (read.status().message().find("reading input") != 0) std::abort();
    return 0;
  }
  const fabric::Fabric& first = read.value().fabric;
  auto again = fabric::read_discovery(fabric::write_discovery(first), "written");
  if (!again.ok()) return 0;  // a GUID that two nodes share cannot be written apart
  if (first.nodes().size() != again.value().fabric.nodes().size()) return 0;
  if (!fabric::difference(first, again.value().fabric).lost_nodes.empty()) std::abort();
  return 0;
}
