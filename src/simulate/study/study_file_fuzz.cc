#include <cstddef>
#include <cstdint>
#include <string_view>

#include "simulate/collective/study.h"
#include "simulate/study/throughput.h"

/// Study files of both kinds, from any bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  using namespace holdfast::simulate;
  (void)study::read_throughput_file(text, "fuzz").ok();
  (void)collective::read_study(text, "fuzz").ok();
  return 0;
}
