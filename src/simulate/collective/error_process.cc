#include "simulate/collective/error_process.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/arithmetic/checked.h"

namespace holdfast::simulate::collective {
namespace {

Status bad(std::string wrong, std::string remedy) {
  return {Code::bad_input, "checking the error process", std::move(wrong), std::move(remedy)};
}

}  // namespace

Status check(const ErrorProcess& process) {
  const bool timed = process.source != ErrorSource::none && process.source != ErrorSource::every_link &&
                     process.source != ErrorSource::bit_errors;
  if (timed && process.mean_ps < ps_per_ns) {
    return bad("a mean of " + std::to_string(process.mean_ps) + " ps between errors", "give at least 1 ns");
  }
  if (!(process.share > 0 && process.share <= 1)) return bad("a share outside (0, 1]", "give a part of all links");
  for (const double rate : {process.adapter_link_bit_error_rate, process.switch_link_bit_error_rate}) {
    if (!(rate >= 0 && rate <= 1e-4)) return bad("a bit error rate outside [0, 1e-4]", "give errors per bit carried");
  }
  if (process.bits_per_s < 1'000'000) return bad("less than 1 Mbit/s", "give the link's rate");
  return {};
}

ErrorDraw::ErrorDraw(const ErrorProcess& process, const Tree& tree, const fabric::Fabric& fabric)
    : process_(process), tree_(tree) {
  for (std::uint32_t wire = 0; wire < tree.wires.size(); ++wire) {
    (tree.host_wire[wire] != 0 ? adapter_wires_ : switch_wires_).push_back(wire);
  }
  const double mean = static_cast<double>(process.mean_ps);
  switch (process.source) {
    case ErrorSource::none:
    case ErrorSource::every_link:
      break;
    case ErrorSource::link:
      rate_per_ps_ = static_cast<double>(tree.wires.size()) / mean;
      break;
    case ErrorSource::switch_ports:
    case ErrorSource::switch_port: {
      std::map<fabric::NodeId, std::vector<std::uint32_t>> wires;
      for (std::uint32_t wire = 0; wire < tree.wires.size(); ++wire) {
        const fabric::Link& link = fabric.link(tree.wires[wire]);
        for (const fabric::PortId port : {link.a, link.b}) {
          if (fabric.is_switch(fabric.port(port).node)) wires[fabric.port(port).node].push_back(wire);
        }
      }
      for (auto& [node, held] : wires) wires_of_switch_.push_back(std::move(held));
      rate_per_ps_ = static_cast<double>(wires_of_switch_.size()) / mean;
      break;
    }
    case ErrorSource::network:
    case ErrorSource::network_share:
    case ErrorSource::network_link:
      rate_per_ps_ = 1 / mean;
      break;
    case ErrorSource::bit_errors: {
      // Bits that err by themselves while they are carried are a Poisson process in the time that the wire is busy:
      // exactly what a strike in flight is.
      const double bits_per_ps = static_cast<double>(process.bits_per_s) / 1e12;
      const double adapter =
          static_cast<double>(adapter_wires_.size()) * process.adapter_link_bit_error_rate * bits_per_ps;
      const double between =
          static_cast<double>(switch_wires_.size()) * process.switch_link_bit_error_rate * bits_per_ps;
      rate_per_ps_ = adapter + between;
      adapter_share_ = rate_per_ps_ > 0 ? adapter / rate_per_ps_ : 0;
      break;
    }
  }
}

void ErrorDraw::begin(const random::Stream& stream) {
  stream_ = stream.child("errors");
  drawn_.named.clear();
  drawn_.strikes.clear();
  drawn_.bits_seed = random::Stream(stream).next64();
  drawn_.strikes_wait = process_.strikes == Strikes::next;
  drawn_.strikes_are_bursts = process_.reach == Reach::every_copy;
  drawn_.hits_lose = process_.effect == ErrorEffect::lose;
  if (process_.source == ErrorSource::every_link) {
    if (process_.up) drawn_.named.push_back({.direction = Direction::up});
    if (process_.down) drawn_.named.push_back({.direction = Direction::down});
  }
  next_ = rate_per_ps_ > 0 ? arithmetic::add_or_never(Time{0}, stream_.exponential(1 / rate_per_ps_)) : never;
}

const Disturbance& ErrorDraw::until(Time horizon) {
  while (next_ < horizon) {
    event(next_);
    next_ = arithmetic::add_or_never(next_, stream_.exponential(1 / rate_per_ps_));
  }
  return drawn_;
}

void ErrorDraw::forget(Time before) {
  auto& strikes = drawn_.strikes;
  strikes.erase(strikes.begin(), std::ranges::lower_bound(strikes, before, {}, &Strike::at));
}

void ErrorDraw::event(Time at) {
  switch (process_.source) {
    case ErrorSource::none:
    case ErrorSource::every_link:
      return;
    case ErrorSource::link:
    case ErrorSource::network_link:
      return strike(at, static_cast<std::uint32_t>(stream_.below(tree_.wires.size())));
    case ErrorSource::switch_ports:
      for (const std::uint32_t wire : wires_of_switch_[stream_.below(wires_of_switch_.size())]) strike(at, wire);
      return;
    case ErrorSource::switch_port: {
      const auto& wires = wires_of_switch_[stream_.below(wires_of_switch_.size())];
      return strike(at, wires[stream_.below(wires.size())]);
    }
    case ErrorSource::network:
      return strike(at, all_wires);
    case ErrorSource::network_share:
      for (std::uint32_t wire = 0; wire < tree_.wires.size(); ++wire) {
        if (stream_.uniform() < process_.share) strike(at, wire);
      }
      return;
    case ErrorSource::bit_errors: {
      const auto& wires = stream_.uniform() < adapter_share_ ? adapter_wires_ : switch_wires_;
      return strike(at, wires[stream_.below(wires.size())]);
    }
  }
}

void ErrorDraw::strike(Time at, std::uint32_t wire) {
  Strike strike;
  strike.at = at;
  strike.wire = wire;
  if (process_.reach == Reach::one) {
    // one of the channels that a host's cable is split in; other cables have but one
    std::uint32_t channels = 1;
    const TreeEdge& host_edge = tree_.edges.front();
    if (wire != all_wires && tree_.host_wire[wire] != 0 && !host_edge.cables) channels = host_edge.channels;
    strike.channel = static_cast<std::uint8_t>(wire == all_wires ? all_channels : stream_.below(channels));
  }
  drawn_.strikes.push_back(strike);
}

}  // namespace holdfast::simulate::collective
