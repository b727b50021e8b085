#include <cstddef>
#include <cstdint>

#include "simulate/traffic/trace.h"

/// Any bytes are read or refused; what is read can be asked for its messages.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace holdfast::simulate;
  auto schedule = parse_goal({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!schedule.ok() || schedule.value().hosts > 64) return 0;
  const std::uint32_t hosts = schedule.value().hosts;
  ScheduleTraffic traffic(std::move(schedule).value());
  Traffic::Message message;
  for (std::uint32_t host = 0; host < hosts; ++host)
    while (traffic.next(host, never / 8, message) == Traffic::Answer::send) traffic.sent(host, message.tag, never / 8);
  return 0;
}
