// Any text is a study of predictions: it is refused with a message, which names what the study names, line breaks of a
// quoted name included (commands print it as one line). None has a recording: files are named from a folder that is not
// there.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "simulate/predict/prediction.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto study = holdfast::simulate::predict::read_prediction_study(text, "/nowhere/at-all/fuzz.toml");
  if (!study.ok() && study.status().wrong().empty()) std::abort();
  return 0;
}
