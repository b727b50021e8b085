#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fabric/opensm/log.h"
#include "fabric/opensm/snapshot.h"

/// The first byte chooses the reader; whatever the rest holds, there is an answer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::fabric;
  static const Fabric fabric = [] {
    Fabric made;
    const NodeId a = made.add_node(NodeKind::switch_, 3, "a", 0x10);
    const NodeId b = made.add_node(NodeKind::switch_, 3, "b", 0x20);
    made.connect(a, b);
    made.connect(a, made.add_node(NodeKind::adapter, 1, "h0", 0x30));
    made.connect(a, made.add_node(NodeKind::adapter, 1, "h1", 0x40));
    made.connect(b, made.add_node(NodeKind::adapter, 1, "h2", 0x50));
    made.assign_lids();
    return made;
  }();
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    (void)opensm::read_snapshot(text, fabric).ok();
  } else {
    (void)opensm::refusal_in(text, "lash");
    (void)opensm::lanes_needed_in(text);
    (void)opensm::last_line(text);
  }
  return 0;
}
