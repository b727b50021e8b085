#include "simulate/collective/rebuild.h"

#include <string>

namespace holdfast::simulate::collective {
namespace {

/// The links that a failure takes down.
std::vector<fabric::LinkId> links_of(const fabric::Fabric& fabric, const HardFailure& failure) {
  if (failure.link != fabric::none) return {failure.link};
  std::vector<fabric::LinkId> links;
  const fabric::Node& node = fabric.node(failure.switch_node);
  for (std::uint32_t number = 1; number <= node.port_count; ++number) {
    const fabric::LinkId link = fabric.port(node.first_port + number).link;
    if (link != fabric::none) links.push_back(link);
  }
  return links;
}

bool names_something(const fabric::Fabric& fabric, const Scheme& scheme, const HardFailure& failure) {
  if (failure.cable != HardFailure::every_cable) {
    if (!scheme.dual_port || failure.cable >= scheme.copies || failure.link >= fabric.links().size()) return false;
    const fabric::Link& link = fabric.link(failure.link);
    return !fabric.is_switch(fabric.port(link.a).node) || !fabric.is_switch(fabric.port(link.b).node);
  }
  if (failure.link != fabric::none) return failure.link < fabric.links().size();
  return failure.switch_node < fabric.nodes().size() && fabric.is_switch(failure.switch_node);
}

/// Whether all of what the fabric has as this link has failed before `begun`.
bool is_gone(std::span<const HardFailure> failures, fabric::LinkId link, std::uint8_t cables, Time begun) {
  std::uint32_t gone = 0;
  for (const HardFailure& failure : failures)
    if (failure.link == link && failure.at < begun && failure.cable != HardFailure::every_cable)
      gone |= 1U << failure.cable;
  return gone + 1 == 1U << cables;
}

}  // namespace

Result<Survival> survive(const fabric::Fabric& fabric, std::span<const fabric::NodeId> hosts,
                         const Experiment& experiment, std::span<const HardFailure> failures,
                         Time detect_and_rebuild_ps) {
  for (const HardFailure& failure : failures) {
    if (names_something(fabric, experiment.scheme, failure)) continue;
    return Status{Code::bad_input, "failing parts of the fabric", "there is no such link, cable or switch",
                  "name links and switches of the fabric; single cables, of adapters with several ports"};
  }
  fabric::Fabric left = fabric;
  Survival survival;
  Time begun = 0;
  for (;;) {
    auto made = Simulation::make(left, nullptr, hosts, experiment);
    if (!made.ok()) return made.status();
    Simulation& simulation = made.value();
    Disturbance disturbance;
    for (const HardFailure& failure : failures) {
      for (const fabric::LinkId link : links_of(fabric, failure)) {
        std::uint8_t cable = 0;
        for (std::uint32_t wire = 0; wire < simulation.tree().wires.size(); ++wire) {
          if (simulation.tree().wires[wire] != link) continue;
          if (failure.cable != HardFailure::every_cable && failure.cable != cable++) continue;
          disturbance.cuts.push_back({std::max<Time>(0, failure.at - begun), wire});
        }
      }
    }
    const Outcome outcome = simulation.run(disturbance);
    if (outcome.complete) {
      survival.correct = outcome.correct;
      survival.last_host_ps = begun + outcome.last_host_ps;
      return survival;
    }
    begun += outcome.ended_ps + detect_and_rebuild_ps;
    ++survival.rebuilds;
    for (const HardFailure& failure : failures) {
      if (failure.at >= begun) continue;
      if (failure.cable != HardFailure::every_cable &&
          !is_gone(failures, failure.link, experiment.scheme.copies, begun))
        continue;
      for (const fabric::LinkId link : links_of(fabric, failure)) left.set_link_up(link, false);
    }
  }
}

}  // namespace holdfast::simulate::collective
