#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "replicate/engine/degrees.h"

/// Any bytes give degrees within bounds, of which the processes tell the ranks again, or an error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using holdfast::replicate::Degrees;
  constexpr int ranks = 40;
  const auto degrees = Degrees::parse({reinterpret_cast<const char*>(data), size});
  if (!degrees) return 0;
  const auto all = degrees.value().of(ranks);
  if (!all) return 0;  // a rank that is not there
  for (const int degree : all.value())
    if (degree < 1 || degree > Degrees::most) std::abort();
  if (degrees.value().ranks(std::accumulate(all.value().begin(), all.value().end(), 0)) != ranks) std::abort();
  return 0;
}
