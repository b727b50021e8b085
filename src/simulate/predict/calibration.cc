#include "simulate/predict/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "core/stats/regression.h"

namespace holdfast::simulate::predict {
namespace {

constexpr double longest_ns = 1e9;  // the bound of mpi.send_overhead
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;

Status nonsense(const std::string& what) {
  return {Code::bad_input, "reading the calibration's measurements", what,
          "is its program of this version of Holdfast?"};
}

/// The numbers of a line behind its word.
Result<std::vector<double>> numbers_of(const std::string& line, std::istringstream& rest, std::size_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers)
    if (!(rest >> number) || !std::isfinite(number) || number < 0 || number > static_cast<double>(most_bytes))
      return nonsense("'" + line + "' is no measurement");
  std::string more;
  if (rest >> more) return nonsense("'" + line + "' is no measurement");
  return numbers;
}

Result<stats::Line> line_through(const std::vector<Measurements::Sample>& samples) {
  std::vector<double> x, y;
  for (const Measurements::Sample& sample : samples) {
    x.push_back(static_cast<double>(sample.bytes));
    y.push_back(sample.ns);
  }
  return stats::fit_line(x, y);
}

std::int64_t whole(double value) {
  return std::llround(std::clamp(value, 0.0, longest_ns));
}

}  // namespace

Result<Measurements> read_measurements(std::string_view text) {
  Measurements found;
  std::map<std::string, std::size_t> seen;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream rest(line);
    std::string word;
    rest >> word;
    if (word == "end") {
      for (const char* needed : {"hosts", "eager_limit", "one_way", "reduce", "barrier", "allreduce8", "late"})
        if (seen[needed] != 1) return nonsense(std::string("'") + needed + "' is not there once");
      if (seen["send"] < 2 || seen["receive"] < 2) return nonsense("there are too few sends or receives");
      return found;
    }
    const bool of_size = word == "send" || word == "receive" || word == "one_way" || word == "reduce" || word == "late";
    const bool of_one = word == "hosts" || word == "eager_limit" || word == "barrier" || word == "allreduce8";
    if (!of_size && !of_one) continue;  // a launcher says something
    auto numbers = numbers_of(line, rest, of_size ? 2 : 1);
    if (!numbers.ok()) return numbers.status();
    ++seen[word];
    const double first = numbers.value().front(), last = numbers.value().back();
    const Measurements::Sample sample{static_cast<std::uint64_t>(first), last};
    if (word == "send") found.sends.push_back(sample);
    if (word == "receive") found.receives.push_back(sample);
    if (word == "one_way") found.one_way = sample;
    if (word == "reduce") found.reduction = sample;
    if (word == "late") found.late_share = first > 0 ? std::min(1.0, last / first) : 0;
    if (word == "hosts") found.one_host = first == 1;
    if (word == "eager_limit") found.eager_limit = static_cast<std::uint64_t>(first);
    if (word == "barrier") found.barrier_ns = first;
    if (word == "allreduce8") found.allreduce_ns = first;
  }
  return nonsense("it ends too early");
}

Result<Calibration> fit(const Measurements& measurements) {
  auto sends = line_through(measurements.sends), receives = line_through(measurements.receives);
  if (!sends.ok() || !receives.ok())
    return Status{Code::bad_input, "fitting the calibration", "all messages are of one length",
                  "this MPI has no eager messages; give mpi.* options"};
  Calibration found;
  found.one_host = measurements.one_host;
  found.eager_limit = measurements.eager_limit;
  found.send_overhead_ns = whole(sends.value().intercept);
  found.receive_overhead_ns = whole(receives.value().intercept);
  found.send_byte_ps = whole(sends.value().slope * 1e3);
  found.receive_byte_ps = whole(receives.value().slope * 1e3);
  if (measurements.reduction.bytes > 0)
    found.reduce_byte_ps = whole(measurements.reduction.ns * 1e3 / static_cast<double>(measurements.reduction.bytes));
  const std::int64_t overheads = found.send_overhead_ns + found.receive_overhead_ns;
  found.latency_ns = whole(measurements.one_way.ns - static_cast<double>(overheads));
  found.send_r2 = sends.value().r2;
  found.receive_r2 = receives.value().r2;
  found.barrier_ns = measurements.barrier_ns;
  found.allreduce_ns = measurements.allreduce_ns;
  found.late_share = measurements.late_share;
  return found;
}

double Calibration::barrier_by_model_ns() const {
  return static_cast<double>(send_overhead_ns + latency_ns + receive_overhead_ns);
}

double Calibration::allreduce_by_model_ns() const {
  return barrier_by_model_ns() + 8e-3 * static_cast<double>(send_byte_ps + receive_byte_ps + reduce_byte_ps);
}

std::string to_toml(const Calibration& c, std::string_view mpi) {
  std::string text = fmt::format("# By 'holdfast calibrate', two processes of {} on {}.\n[mpi]\ncollectives = \"{}\"\n",
                                 mpi, c.one_host ? "one host" : "two hosts", mpi);
  text += fmt::format("send_overhead = \"{}ns\"  # line through the calls' times, R2 {:.3f}\n", c.send_overhead_ns,
                      c.send_r2);
  text += fmt::format("receive_overhead = \"{}ns\"  # line, R2 {:.3f}\n", c.receive_overhead_ns, c.receive_r2);
  text += fmt::format("receive_byte = {}\nreduce_byte = {}\n", c.receive_byte_ps, c.reduce_byte_ps);
  if (c.was_busy())
    text += fmt::format("# The machine was busy: {:.0f} % of the calls took over a millisecond. Measure again.\n",
                        100 * c.late_share);
  if (!c.one_host)
    return text + fmt::format("send_byte = {}\neager_limit = {}\n# Beyond the overheads a byte took {} ns one way.\n",
                              c.send_byte_ps, c.eager_limit, c.latency_ns);
  text += fmt::format("shared_eager_limit = {}\nshared_byte = {}\n", c.eager_limit, c.send_byte_ps);
  text += fmt::format("shared_latency = \"{}ns\"  # what a ping-pong takes beyond the overheads\n", c.latency_ns);
  text += fmt::format(
      "# Not fitted: a barrier took {:.0f} ns and is {:.0f} by these numbers, an allreduce of 8 bytes\n"
      "# {:.0f} ns and {:.0f}.\n# The network's eager_limit and send_byte need two hosts.\n",
      c.barrier_ns, c.barrier_by_model_ns(), c.allreduce_ns, c.allreduce_by_model_ns());
  return text;
}

}  // namespace holdfast::simulate::predict
