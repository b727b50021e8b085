// Whatever ibdmchk prints is no verdict, or one that counts paths and says so of loops.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fabric/opensm/ibdmchk.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto judgement = holdfast::fabric::opensm::read_judgement(text);
  if (!judgement.ok()) {
    if (judgement.status().message().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const auto& said = judgement.value();
  if (said.credit_loops && !said.looked_for_loops) std::abort();
  if (!said.looked_for_loops && said.lost_paths == 0 && said.scanned_paths == 0) std::abort();
  if (said.lost_paths > said.scanned_paths) std::abort();
  if (said.loop.find('\n') != std::string::npos || text.find(said.loop) == std::string_view::npos) std::abort();
  return 0;
}
