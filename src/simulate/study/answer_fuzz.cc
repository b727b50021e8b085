#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/event/json.h"
#include "simulate/study/channel.h"

/// A worker's answer from any bytes: refused, or what the message says, and the same after another way through a
/// message.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::simulate::study;
  const Json message = holdfast::event::parse_json({reinterpret_cast<const char*>(data), size});
  const auto answer = read_answer(message);
  if (!answer) return 0;
  if (Json(answer->run) != message["run"] || answer->waited_ns < 0) std::abort();
  const auto& finished = answer->finished;
  if (!finished.ok() && Json(static_cast<unsigned>(finished.status().code())) != message["code"]) std::abort();
  const Json said = to_message(answer->run, finished);
  const auto again = read_answer(said);
  if (!again || to_message(again->run, again->finished) != said) std::abort();
  return 0;
}
