#include "plan/calibration.h"

#include <algorithm>
#include <optional>
#include <string>

#include "core/config/toml_text.h"
#include "plan/quantity.h"

namespace holdfast::plan {
namespace {

constexpr double most_seconds = 1;        ///< of an overhead, as of transport.fragment_cost
constexpr double bits_of_byte_ps = 8e12;  ///< bit/s of a picosecond a byte
constexpr double least_byte_ps = 0.008;   ///< of a copy that is the fastest of transport.copy
constexpr double most_byte_ps = 1e9;

Status bad(std::string_view name, std::string what) {
  return Status(Code::bad_input, "reading the calibration " + std::string(name), std::move(what),
                "'holdfast calibrate -o FILE' writes one");
}

/// Seconds of a key such as send_overhead = "300ns"; none where the table lacks it.
Result<std::optional<double>> seconds_of(const toml::table& mpi, std::string_view key, std::string_view name) {
  if (!mpi.contains(key)) return std::optional<double>();
  const auto text = mpi[key].value<std::string>();
  const auto seconds = text ? parse_quantity(*text, Dimension::time, "reading it") : Result<double>(0.0);
  if (!text || !seconds.ok() || seconds.value() > most_seconds)
    return bad(name, "mpi." + std::string(key) + " is no time of at most a second, as \"300ns\"");
  return std::optional(seconds.value());
}

void take(Number& number, double value, std::string source) {
  if (number.given && number.source != "default") return;
  number = {value, true, std::move(source)};
}

}  // namespace

Status take_calibration(std::string_view text, std::string_view name, Machine& machine) {
  const auto parsed = config::parse_toml(text, std::string(name) + " line ");
  if (!parsed.ok()) return parsed.status();
  const toml::table* const mpi = parsed.value()["mpi"].as_table();
  if (!mpi) return bad(name, "it has no table [mpi]");
  const auto sends = seconds_of(*mpi, "send_overhead", name), receives = seconds_of(*mpi, "receive_overhead", name);
  if (!sends.ok()) return sends.status();
  if (!receives.ok()) return receives.status();
  std::optional<double> copy_ps;
  if (mpi->contains("receive_byte")) {
    copy_ps = (*mpi)["receive_byte"].value<double>();
    if (!copy_ps || !(*copy_ps == 0 || (*copy_ps >= least_byte_ps && *copy_ps <= most_byte_ps)))
      return bad(name, "mpi.receive_byte is no number of ps, 0 or from 0.008 to 1,000,000,000");
  }
  const std::string from(name);
  if (sends.value() || receives.value())
    take(machine.fragment_cost_s, std::max(sends.value().value_or(0), receives.value().value_or(0)),
         from + ": the greater of mpi.send_overhead and mpi.receive_overhead");
  if (copy_ps && *copy_ps > 0) take(machine.copy_bit_per_s, bits_of_byte_ps / *copy_ps, from + ": mpi.receive_byte");
  return {};
}

}  // namespace holdfast::plan
