#include "simulate/collective/simulation.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "simulate/collective/quotient.h"

namespace holdfast::simulate::collective {

struct Simulation::Parts {
  Parts(const Experiment& given, Tree embedded)
      : experiment(given),
        tree(std::move(embedded)),
        operands(tree, given.operation == Operation::barrier ? 0 : given.assumptions.mtu_bytes / 8, given.combine,
                 given.seed, given.operand),
        reducer(tree, operands),
        needed(given.scheme, given.assumptions, Detail::needed),
        everything(given.scheme, given.assumptions, Detail::everything) {
    collective.tree = &tree;
    collective.combine = experiment.combine;
    collective.operand = experiment.operand;
    collective.tolerances = operands.tolerances();
    collective.operation = experiment.operation;
    collective.bytes = experiment.operation == Operation::barrier ? 0 : experiment.bytes;
    collective.host = experiment.host;
    collective.contributions.resize(tree.nodes.size());
    for (std::uint32_t host = 0; host < tree.hosts; ++host) collective.contributions[host] = operands.at(host);
    collective.total = operands.at(experiment.operation == Operation::broadcast ? experiment.host : tree.roots.front());
  }

  Experiment experiment;
  Tree tree;
  Operands operands;
  Reducer reducer;
  Collective collective;
  Engine needed;
  Engine everything;
  Engine* last = nullptr;
};

namespace {

Outcome as_one(const std::vector<Outcome>& outcomes) {
  Outcome whole = outcomes.front();
  for (const Outcome& each : outcomes) {
    whole.complete &= each.complete;
    whole.correct &= each.correct;
    whole.split |= each.split;
    whole.root_ps = std::max(whole.root_ps, each.root_ps);
    whole.last_host_ps = std::max(whole.last_host_ps, each.last_host_ps);
    whole.ended_ps = std::max(whole.ended_ps, each.ended_ps);
  }
  return whole;
}

}  // namespace

Simulation::Simulation(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

const Experiment& Simulation::experiment() const {
  return parts_->experiment;
}
const Tree& Simulation::tree() const {
  return parts_->tree;
}

Result<Simulation> Simulation::make(const fabric::Fabric& fabric, const fabric::Forwarding* forwarding,
                                    std::span<const fabric::NodeId> hosts, const Experiment& experiment) {
  if (Status status = check(experiment.scheme, experiment.assumptions); !status.ok()) return status;
  if (experiment.operation != Operation::barrier && (experiment.bytes == 0 || experiment.bytes % 8 != 0)) {
    return Status{Code::bad_input, "setting up the collective", std::to_string(experiment.bytes) + " bytes of operands",
                  "give a multiple of 8 above 0"};
  }
  if (experiment.together < 1 || experiment.together > 256) {
    return Status{Code::bad_input, "setting up the collective",
                  std::to_string(experiment.together) + " collectives together", "give 1 to 256"};
  }
  std::vector<fabric::NodeId> all;
  if (hosts.empty()) {
    all = all_adapters(fabric);
    hosts = all;
  }
  if (experiment.host >= hosts.size() && !hosts.empty()) {
    return Status{Code::bad_input, "setting up the collective", "there is no host " + std::to_string(experiment.host),
                  "give 0 to " + std::to_string(hosts.size() - 1)};
  }
  auto tree = embed(fabric, forwarding, hosts, experiment.scheme);
  if (!tree.ok()) return tree.status();
  return Simulation(std::make_unique<Parts>(experiment, std::move(tree.value())));
}

Outcome Simulation::run(const Disturbance& disturbance, Detail detail) {
  parts_->last = detail == Detail::everything ? &parts_->everything : &parts_->needed;
  const std::uint32_t together = parts_->experiment.together;
  if (together == 1) return parts_->last->run(std::span(&parts_->collective, 1), disturbance).front();
  const std::vector<Collective> all(together, parts_->collective);
  return as_one(parts_->last->run(all, disturbance));
}

Time Simulation::quiet_ps() const {
  return parts_->last == nullptr ? 0 : parts_->last->quiet_ps();
}

std::vector<std::uint8_t> Simulation::waiting_at(Time at) const {
  return parts_->last == nullptr ? std::vector<std::uint8_t>{} : parts_->last->waiting_at(at);
}

Outcome Simulation::run_reduced(const Disturbance& disturbance) {
  const Operation operation = parts_->experiment.operation;
  const bool symmetric = operation == Operation::allreduce || operation == Operation::barrier;
  const bool has_inverse = parts_->experiment.operand == Operand::integer;
  const bool always_found = disturbance.mask.empty() && disturbance.bits == 1;
  if (parts_->experiment.together > 1 || !disturbance.waiting.empty()) return run(disturbance);
  if (!symmetric || !has_inverse || !always_found || !parts_->reducer.reduce(disturbance, parts_->collective.bytes)) {
    return run(disturbance);
  }
  parts_->last = nullptr;
  return parts_->needed.run(std::span(&parts_->reducer.collective(), 1), parts_->reducer.disturbance()).front();
}

std::vector<Time> Simulation::host_times() const {
  return parts_->last == nullptr ? std::vector<Time>{} : parts_->last->host_times(0);
}

}  // namespace holdfast::simulate::collective
