// Whatever the calibration's program prints is either refused with a one-line message, or gives a file that --config
// takes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/config/toml_file.h"
#include "simulate/job/protocol.h"
#include "simulate/predict/calibration.h"

namespace {

using namespace holdfast;
using namespace holdfast::simulate;

bool one_line(const Status& status) {
  return status.message().find('\n') == std::string::npos;
}

void require(bool held) {
  if (!held) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto measured = predict::read_measurements({reinterpret_cast<const char*>(data), size});
  if (!measured.ok()) {
    require(one_line(measured.status()));
    return 0;
  }
  const auto fitted = predict::fit(measured.value());
  if (!fitted.ok()) {
    require(one_line(fitted.status()));
    return 0;
  }
  config::Settings<job::Protocol> settings(job::protocol_table());
  config::AnySettings* const all[] = {&settings};
  const Status taken = config::read_toml(predict::to_toml(fitted.value(), "mpich"), "fuzz.toml", all);
  require(taken.ok());
  require(settings.options().send_overhead_ns == fitted.value().send_overhead_ns);
  require(settings.options().receive_byte_ps == fitted.value().receive_byte_ps);
  return 0;
}
