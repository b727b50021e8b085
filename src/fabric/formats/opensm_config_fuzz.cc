#include <cstdlib>

#include "fabric/formats/opensm_config.h"
#include "fabric/routing/engines/torus_placement.h"
#include "fabric/topology/generate.h"

/// Any text gives a configuration that can be written and read back as the same one, or an error with a place; and what
/// places switches puts each where its cables are. The first byte says which kind of file it is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast;
  if (size == 0) return 0;
  static const fabric::Fabric torus = fabric::generate("torus(3,4,5) hosts=60").value();
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    const auto roots = fabric::read_root_guids(text, "input", torus);
    if (!roots.ok()) {
      if (roots.status().message().find("reading input") != 0) std::abort();
      return 0;
    }
    const auto again = fabric::read_root_guids(fabric::write_root_guids(torus, roots.value()), "written", torus);
    if (!again.ok() || again.value() != roots.value()) std::abort();
    return 0;
  }
  const auto config = fabric::read_torus_config(text, "input", torus);
  if (!config.ok()) {
    if (config.status().message().find("reading input") != 0) std::abort();
    return 0;
  }
  const auto again = fabric::read_torus_config(fabric::write_torus_config(torus, config.value()), "written", torus);
  if (!again.ok() || again.value().size != config.value().size || again.value().looped != config.value().looped ||
      again.value().seeds.size() != config.value().seeds.size())
    std::abort();
  static const fabric::SwitchGraph graph(torus);
  const auto grid = fabric::place_on_torus(torus, graph, config.value());
  if (grid.ok() ? !fabric::lies_on_grid(graph, grid.value())
                : grid.status().message().find("placing switches by torus-2QoS.conf") != 0)
    std::abort();
  return 0;
}
