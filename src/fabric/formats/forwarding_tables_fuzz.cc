#include <cstdlib>

#include "fabric/formats/forwarding_tables.h"
#include "fabric/topology/generate.h"

/// Any text gives tables that are written and read back alike, or an error; the three readers take the same text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  static const fabric::Fabric fabric = fabric::generate("mesh(2) hosts=3 ports=8").value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto read = fabric::read_forwarding(text, "input", fabric);
  if (read.ok()) {
    auto again = fabric::read_forwarding(fabric::write_lfts(fabric, read.value().forwarding), "written", fabric);
    if (!again.ok()) std::abort();
    (void)fabric::write_fdbs(fabric, read.value().forwarding);
  }
  fabric::ImportedTables tables{fabric::Forwarding(fabric), {}};
  (void)fabric::read_sl2vl(text, "input", fabric, tables);
  if (fabric::read_path_records(text, "input", fabric, tables).ok()) {
    fabric::ImportedTables again{fabric::Forwarding(fabric), {}};
    (void)fabric::read_path_records(fabric::write_path_records(fabric, tables.forwarding), "written", fabric, again);
  }
  fabric::settle_lanes(fabric, tables.forwarding);
  return 0;
}
