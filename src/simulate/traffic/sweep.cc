#include "simulate/traffic/sweep.h"

#include <algorithm>

#include "simulate/packet/hosts.h"

namespace holdfast::simulate {
namespace {

/// Payload a second that a host offers at load 1, the mean over all.
double full_rate(const fabric::Fabric& fabric, const Parameters& parameters, std::uint64_t size) {
  const Hosts hosts(fabric);
  const std::uint64_t packets = (size + parameters.mtu - 1) / parameters.mtu;
  double sum = 0;
  for (const fabric::PortId port : hosts.ports) {
    const fabric::LinkId link = fabric.port(port).link;
    if (link == fabric::none) continue;
    const Time time = parameters.link_pace(fabric.link(link).rate).of(size + packets * header_bytes);
    sum += static_cast<double>(size) * static_cast<double>(ps_per_s) / static_cast<double>(time);
  }
  return hosts.count() == 0 ? 0 : sum / hosts.count();
}

}  // namespace

Result<Sweep> sweep(const fabric::Fabric& fabric, const fabric::Forwarding& forwarding, const Parameters& parameters,
                    const TrafficSpec& spec, std::uint64_t seed, const Control& control, std::uint32_t steps,
                    std::uint32_t refine, const std::function<void(const SweepPoint&)>& done) {
  Sweep found;
  Status status;
  const double full = full_rate(fabric, parameters, spec.size == 0 ? parameters.mtu : spec.size);
  auto run = [&](double load) -> const SweepPoint* {
    TrafficSpec at = spec;
    at.load = load;
    auto traffic = make_traffic(at, fabric, parameters, seed);
    if (traffic.ok() && traffic.value()->finite())
      status = {Code::bad_input, "sweeping the injection rate", "the pattern ends by itself",
                "take one that goes on, as uniform without messages="};
    else if (!traffic.ok())
      status = traffic.status();
    if (!status.ok()) return nullptr;
    auto record = simulate(fabric, forwarding, parameters, *traffic.value(), control);
    status = record.status();
    if (!status.ok()) return nullptr;
    const auto place = std::find_if(found.points.begin(), found.points.end(),
                                    [&](const SweepPoint& point) { return point.load > load; });
    const SweepPoint& point = *found.points.insert(place, {load, load * full, std::move(record).value()});
    if (done) done(point);
    return &point;
  };
  double good = 0;
  double bad = 2;
  for (std::uint32_t step = 1; step <= steps; ++step) {
    const double load = static_cast<double>(step) / steps;
    const SweepPoint* point = run(load);
    if (point == nullptr) return status;
    if (point->kept_up() && bad > 1) good = load;
    if (!point->kept_up()) bad = std::min(bad, load);
    if (point->record.ending == Ending::deadlock || point->record.ending == Ending::stopped) break;
  }
  for (std::uint32_t round = 0; round < refine && bad <= 1; ++round) {
    const double load = (good + bad) / 2;
    const SweepPoint* point = run(load);
    if (point == nullptr) return status;
    (point->kept_up() ? good : bad) = load;
    if (point->record.ending == Ending::stopped) break;
  }
  found.saturation_load = good;
  for (const SweepPoint& point : found.points)
    found.saturation_bytes_per_s = std::max(found.saturation_bytes_per_s, point.record.host_mean_bytes_per_s);
  return found;
}

}  // namespace holdfast::simulate
