// Any text is either refused with a one-line message, or gives faults that strike bits of the messages that there are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "replicate/engine/injector.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::replicate;
  auto read = Injector::read({reinterpret_cast<const char*>(data), size}, 7, {1, 2});
  if (!read.ok()) {
    if (read.status().message().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  Injector injector = read.value();
  for (const std::uint64_t bits : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{8}, ~std::uint64_t{0}})
    for (const int rank : {-1, 0, 1, 0x7FFFFFFF}) {
      for (const Injector::Strike& strike : injector.message(rank, bits))
        if (injector.none() || strike.bit >= bits) std::abort();
      for (const Injector::Strike& strike : injector.control(rank, bits))
        if (injector.none() || strike.bit >= bits) std::abort();
    }
  return 0;
}
