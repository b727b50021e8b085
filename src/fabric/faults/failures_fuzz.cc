// Any text is a list of faults of a small fabric: it is either refused with a one-line message, or what it names has
// failed, and can be found by the name that it is told by.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/fault/grammar.h"
#include "fabric/faults/failures.h"
#include "fabric/faults/names.h"
#include "fabric/topology/generate.h"

namespace {

using namespace holdfast;
using namespace holdfast::fabric;

void require(bool held) {
  if (!held) std::abort();
}

bool one_line(const std::string& text) {
  return text.find('\n') == std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Fabric whole = generate("torus(3,3) links=2 hosts=18").value();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)find_port(whole, text);
  (void)find_node(whole, text);
  if (const auto links = find_links(whole, text); links.ok())
    for (const LinkId link : links.value()) require(find_links(whole, link_name(whole, link)).ok());
  const auto faults = fault::parse(text);
  if (!faults.ok()) return 0;
  for (const std::int64_t until_ns : {std::int64_t{-1}, std::int64_t{1'000'000'000}}) {
    Fabric fabric = whole;
    const auto failed = fail(fabric, faults.value(), {3, true, until_ns});
    if (!failed.ok()) {
      require(one_line(failed.status().message()));
      continue;
    }
    for (const Failure& failure : failed.value().failed) {
      require(one_line(describe(fabric, failure)));
      for (const LinkId link : failure.links) require(!fabric.link(link).up);
    }
  }
  return 0;
}
