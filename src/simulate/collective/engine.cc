#include "simulate/collective/engine.h"

#include <algorithm>

// What a run is: loading, the loop, the end. What nodes send is in engine_send.cc, what they do with what arrives in
// engine_receive.cc.
namespace holdfast::simulate::collective {

Engine::Engine(const Scheme& scheme, const Assumptions& assumptions, Detail detail)
    : scheme_(scheme),
      assumptions_(assumptions),
      everything_(detail == Detail::everything),
      queue_(Time{1} << 15, 512) {}

std::vector<Outcome> Engine::run(std::span<const Collective> collectives, const Disturbance& disturbance) {
  std::uint32_t wires = 0;
  for (const Collective& each : collectives) {
    wires = std::max(wires, static_cast<std::uint32_t>(each.tree->wires.size()));
  }
  base_ = queue_.now() + 1;
  now_ = base_;
  counts_ = {};
  load(disturbance, wires);
  begin(collectives);
  play();
  std::vector<Outcome> outcomes;
  for (Running& each : running_) {
    Outcome& outcome = each.outcome;
    outcome.complete = each.flows_left == 0;
    for (std::uint32_t i = 0; i < each.segments; ++i) outcome.correct &= flows_[each.first_flow + i].right;
    outcome.correct &= outcome.complete;
    outcome.ended_ps = now_ - base_ - each.what->start_ps;
    outcome.counts = counts_;
    outcomes.push_back(outcome);
  }
  while (queue_.next_instant()) {  // what is still under way changes nothing: leave the queue empty for the next run
  }
  slab_.clear();
  free_slots_.clear();
  return outcomes;
}

std::vector<Time> Engine::host_times(std::uint32_t collective) const {
  std::vector<Time> times = running_[collective].host_done;
  for (Time& time : times) time = time == 0 ? 0 : time - base_ - running_[collective].what->start_ps;
  return times;
}

Time Engine::quiet_ps() const {
  return busy_.empty() ? 0 : *std::ranges::max_element(busy_) - base_;
}

std::vector<std::uint8_t> Engine::waiting_at(Time at) const {
  std::vector<std::uint8_t> waiting = waiting_;
  waiting.resize(busy_.size());
  if (!any_strikes_ || !disturbance_->strikes_wait) return waiting;
  const auto left = [&](std::span<const Strike> strikes, std::uint32_t met, std::uint32_t channel) {
    return std::ranges::any_of(strikes.subspan(met), [&](const Strike& strike) {
      return strike.at < base_ + at && (strike.channel == all_channels || strike.channel == channel);
    });
  };
  for (std::uint32_t wire = 0; channel_index(wire, Direction::up, 0) < waiting.size(); ++wire) {
    if (everywhere_.empty() && by_wire_[wire].empty()) continue;
    for (const Direction direction : {Direction::up, Direction::down})
      for (std::uint32_t channel = 0; channel < most_copies; ++channel) {
        const std::size_t index = channel_index(wire, direction, channel);
        if (left(everywhere_, met_[0][index], channel) || left(by_wire_[wire], met_[1][index], channel))
          waiting[index] = 1;
      }
  }
  return waiting;
}

void Engine::load(const Disturbance& disturbance, std::uint32_t wires) {
  disturbance_ = &disturbance;
  bits_ = random::Stream(disturbance.bits_seed).child("bits");
  const std::size_t channels = channel_index(wires, Direction::up, 0);
  busy_.assign(channels, base_);
  waiting_ = disturbance.waiting;
  if (!waiting_.empty()) waiting_.resize(channels);
  any_named_ = !disturbance.named.empty();
  if (any_named_) named_.assign(channels, 0);
  for (const NamedError& error : disturbance.named) {
    const std::uint32_t first = error.wire == all_wires ? 0 : error.wire;
    const std::uint32_t last = error.wire == all_wires ? wires : error.wire + 1;
    for (std::uint32_t wire = first; wire < last; ++wire) {
      for (std::uint32_t channel = 0; channel < most_copies; ++channel) {
        if (error.channel != all_channels && error.channel != channel) continue;
        std::uint8_t& held = named_[channel_index(wire, error.direction, channel)];
        held = static_cast<std::uint8_t>(held + error.count);
      }
    }
  }
  for (const std::uint32_t wire : struck_wires_) by_wire_[wire].clear();
  struck_wires_.clear();
  everywhere_.clear();
  by_wire_.resize(std::max<std::size_t>(by_wire_.size(), wires));
  any_strikes_ = !disturbance.strikes.empty();
  for (Strike strike : disturbance.strikes) {
    strike.at += base_;
    if (strike.wire == all_wires) {
      everywhere_.push_back(strike);
      continue;
    }
    if (by_wire_[strike.wire].empty()) struck_wires_.push_back(strike.wire);
    by_wire_[strike.wire].push_back(strike);
  }
  if (disturbance.strikes_wait) {
    for (auto& met : met_) met.assign(channels, 0);
  }
  cut_at_.clear();
  if (!disturbance.cuts.empty()) cut_at_.assign(wires, never);
  for (const Cut& cut : disturbance.cuts) cut_at_[cut.wire] = std::min(cut_at_[cut.wire], base_ + cut.at);
}

void Engine::begin(std::span<const Collective> collectives) {
  running_.clear();
  running_.resize(collectives.size());
  windowed_ = false;
  flow_count_ = 0;
  collectives_left_ = static_cast<std::uint32_t>(collectives.size());
  for (std::uint32_t i = 0; i < collectives.size(); ++i) {
    Running& running = running_[i];
    const Collective& what = collectives[i];
    const Tree& tree = *what.tree;
    running.what = &what;
    running.first_flow = flow_count_;
    running.segments = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(1, (what.bytes + assumptions_.mtu_bytes - 1) / assumptions_.mtu_bytes));
    running.flows_left = running.segments;
    running.outcome.correct = true;
    running.host_done.assign(tree.hosts, 0);
    if (running.segments > assumptions_.window_segments) {
      windowed_ = true;
      running.outstanding.assign(tree.nodes.size(), 0);
      running.started.assign(tree.hosts, 0);
      running.waiting.resize(tree.nodes.size());
    }
    if (what.operation == Operation::reduce || what.operation == Operation::broadcast) {
      running.on_path.assign(tree.nodes.size(), 0);
      running.on_path[what.host] = 1;
      for (std::uint32_t node = 0; node < tree.nodes.size(); ++node) {  // children stand before their parents
        if (running.on_path[node] == 0) continue;
        for (const TreeEdge& edge : tree.up(node)) running.on_path[edge.parent] = 1;
      }
    }
    flow_count_ += running.segments;
    if (flows_.size() < flow_count_) flows_.resize(flow_count_);
    for (std::uint32_t segment = 0; segment < running.segments; ++segment) {
      Flow& flow = flows_[running.first_flow + segment];
      flow.collective = i;
      flow.segment = segment;
      flow.nodes.clear();
      flow.right = true;
    }
    Pending pending;
    pending.task = Task::start;
    pending.node = i;
    push(base_ + what.start_ps + assumptions_.adapter_delay_ps, Kind::ready, pending);
  }
}

void Engine::activate(Flow& flow) {
  const Running& running = running_[flow.collective];
  const Tree& tree = *running.what->tree;
  const std::uint64_t left = running.what->bytes - std::uint64_t{flow.segment} * assumptions_.mtu_bytes;
  flow.words = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, assumptions_.mtu_bytes) / 8);
  for (const Direction direction : {Direction::up, Direction::down}) {
    for (const bool host : {false, true}) {
      flow.duration[host ? 1 : 0][static_cast<std::size_t>(direction)] = packet_duration(flow, host, direction);
    }
  }
  flow.root_done = false;
  flow.verified = nullptr;
  flow.digest = 0;
  flow.flipped.clear();
  flow.hosts_left = running.what->operation == Operation::reduce ? 1 : tree.hosts;
  flow.nodes.assign(tree.nodes.size(), {});
  flow.sides.assign(tree.edges.size() * 2, {});
  flow.sums.resize((tree.nodes.size() - tree.hosts) * flow.words);
  for (const TreeEdge& edge : tree.edges) {
    if (sends_up(running, edge.child)) ++flow.nodes[edge.parent].missing;
  }
}

void Engine::push(Time at, Kind kind, const Pending& pending) {
  std::uint32_t slot = static_cast<std::uint32_t>(slab_.size());
  if (free_slots_.empty()) {
    slab_.push_back(pending);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    slab_[slot] = pending;
  }
  queue_.push(at, static_cast<std::uint32_t>(kind) << 29 | slot);  // of one instant, what arrived good comes first
}

void Engine::play() {
  constexpr std::uint32_t slot_mask = (1U << 29) - 1;
  const auto kind = [](Event event) { return static_cast<Kind>(event >> 29); };
  while (collectives_left_ > 0 && queue_.next_instant()) {
    now_ = queue_.now();
    instant_.assign(queue_.events().begin(), queue_.events().end());
    if (flow_count_ > 1) order_instant();
    for (std::size_t at = 0; at < instant_.size(); ++at) {
      const std::uint32_t slot = instant_[at] & slot_mask;
      if (kind(instant_[at]) == Kind::head) {
        heads_.clear();
        for (; at < instant_.size() && kind(instant_[at]) == Kind::head; ++at) {
          heads_.push_back(slab_[instant_[at] & slot_mask].packet);
          free_slots_.push_back(instant_[at] & slot_mask);
        }
        --at;
        play_heads();
        continue;
      }
      const Pending pending = slab_[slot];
      free_slots_.push_back(slot);
      dispatch(pending);
    }
  }
}

/// Segments that want the same channel at one moment get it in their order.
void Engine::order_instant() {
  constexpr std::uint32_t slot_mask = (1U << 29) - 1;
  ordered_.clear();
  for (const Event event : instant_) {
    const Pending& pending = slab_[event & slot_mask];
    const std::uint32_t place = pending.task == Task::sum_ready ? pending.node : pending.packet.edge;
    ordered_.push_back({(std::uint64_t{event >> 29} << 61) | (std::uint64_t{pending.packet.flow} << 35) |
                            (std::uint64_t{place} << 3) | pending.packet.channel,
                        event});
  }
  std::sort(ordered_.begin(), ordered_.end());
  for (std::size_t i = 0; i < instant_.size(); ++i) instant_[i] = ordered_[i].second;
}

/// Of packets that begin to come in at one moment, a node forwards the one from its first parent.
void Engine::play_heads() {
  std::sort(heads_.begin(), heads_.end(),
            [](const Incoming& a, const Incoming& b) { return a.flow != b.flow ? a.flow < b.flow : a.edge < b.edge; });
  for (const Incoming& packet : heads_) head_down(packet);
}

void Engine::dispatch(const Pending& pending) {
  const Incoming& packet = pending.packet;
  switch (pending.task) {
    case Task::arrive:
      if (packet.direction == Direction::up) {
        tail_up(packet);
      } else {
        tail_down(packet);
      }
      return;
    case Task::acknowledged:
      return acknowledged(packet.flow, packet.edge, packet.direction);
    case Task::repeat:
      return repeat(packet.flow, packet.edge, packet.direction, packet.attempt, false);
    case Task::timeout:
      return repeat(packet.flow, packet.edge, packet.direction, packet.attempt, true);
    case Task::sum_ready:
      return sum_ready(packet.flow, pending.node);
    case Task::start:
      return start(pending.node);
  }
}

}  // namespace holdfast::simulate::collective
