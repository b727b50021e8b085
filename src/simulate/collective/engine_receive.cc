#include <algorithm>
#include <bit>

#include "simulate/collective/engine.h"

// What a node does with what arrives.
namespace holdfast::simulate::collective {

void Engine::start(std::uint32_t collective) {
  Running& running = running_[collective];
  const std::uint32_t first = std::min(running.segments, assumptions_.window_segments);
  for (std::uint32_t segment = 0; segment < first; ++segment) {
    Flow& flow = flows_[running.first_flow + segment];
    activate(flow);
    for (std::uint32_t host = 0; host < running.what->tree->hosts; ++host) {
      if (sends_up(running, host)) sum_ready(running.first_flow + segment, host);
    }
  }
  for (std::uint32_t& started : running.started) started = first;
}

/// A host's operand, or a switch's sum, is there.
void Engine::sum_ready(std::uint32_t flow_index, std::uint32_t node) {
  Flow& flow = flows_[flow_index];
  Running& running = running_[flow.collective];
  const Tree& tree = *running.what->tree;
  NodeState& state = flow.nodes[node];
  state.summed = true;
  if (tree.is_host(node)) state.sum = running.what->contributions[node].in(flow.segment);
  if (tree.nodes[node].up_count > 0) return send_sum(flow_index, node);
  if (!flow.root_done) {
    flow.root_done = true;
    running.outcome.root_ps = std::max(running.outcome.root_ps, now_ - base_ - running.what->start_ps);
  }
  state.holds_result = true;
  state.forwarded_good = true;
  state.result = state.sum;
  for (const std::uint32_t edge : tree.down_edges(node)) {
    if (gets_result(running, tree.edges[edge].child)) {
      send_whole(flow_index, edge, Direction::down, now_, state.result);
    }
  }
}

void Engine::send_sum(std::uint32_t flow_index, std::uint32_t node) {
  Flow& flow = flows_[flow_index];
  Running& running = running_[flow.collective];
  const Tree& tree = *running.what->tree;
  NodeState& state = flow.nodes[node];
  if (!running.outstanding.empty()) {
    if (running.outstanding[node] >= assumptions_.window_segments) {
      running.waiting[node].push_back(flow_index);
      return;
    }
    ++running.outstanding[node];
    state.sending = true;
  }
  for (std::uint32_t i = 0; i < tree.nodes[node].up_count; ++i) {
    send_whole(flow_index, tree.nodes[node].first_up + i, Direction::up, now_, state.sum);
  }
}

/// Counts a copy of a transmission in; true when it was the last one.
bool Engine::note_arrival(Side& to, const Incoming& packet) {
  if (to.receiving != packet.attempt) {
    to.receiving = packet.attempt;
    to.arrived = 0;
    to.hit_here = false;
  }
  if (packet.fate == Fate::hit) to.hit_here = true;
  return ++to.arrived == packet.expected;
}

void Engine::tail_up(const Incoming& packet) {
  Flow& flow = flows_[packet.flow];
  const Running& running = running_[flow.collective];
  const Tree& tree = *running.what->tree;
  const TreeEdge& edge = tree.edges[packet.edge];
  Side& to = side(flow, packet.edge, Direction::up);
  const bool over = note_arrival(to, packet);
  if (packet.fate == Fate::good && !to.received) {
    to.received = true;
    answer(packet, true);
    NodeState& state = flow.nodes[edge.parent];
    const std::span<std::uint64_t> sum(flow.sums.data() + std::size_t{edge.parent - tree.hosts} * flow.words,
                                       flow.words);
    if (state.sum.words == nullptr) {
      const Contribution& known = running.what->contributions[edge.parent];
      const bool has = known.words != nullptr;
      const Value first = has ? known.in(flow.segment) : packet.value;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = first.words[i] + first.shift;
      if (has) combine_into(running.what->combine, running.what->operand, sum, packet.value);
      state.sum = {sum.data(), 0};
    } else {
      combine_into(running.what->combine, running.what->operand, sum, packet.value);
    }
    if (--state.missing == 0) {
      Pending pending;
      pending.task = Task::sum_ready;
      pending.packet.flow = packet.flow;
      pending.node = edge.parent;
      push(now_ + assumptions_.switch_delay_ps, Kind::ready, pending);
    }
    return;
  }
  if (packet.fate == Fate::good) ++counts_[Count::duplicates];
  if (to.received) {
    if ((over || packet.fate == Fate::good) && to.answered != packet.attempt) {
      answer(packet, true);
    }
  } else if (over && to.hit_here) {
    answer(packet, false);
  }
}

void Engine::head_down(const Incoming& packet) {
  Flow& flow = flows_[packet.flow];
  const std::uint32_t node = tree_of(flow).edges[packet.edge].child;
  NodeState& state = flow.nodes[node];
  Side& to = side(flow, packet.edge, Direction::down);
  to.active = true;
  to.current = packet;
  if (!state.holds_result &&
      (state.source == none || (state.source == packet.edge && state.source_attempt != packet.attempt))) {
    return adopt(flow, node, packet.edge);
  }
  if (state.source == packet.edge && state.source_attempt == packet.attempt) {
    forward(flow, node, packet, now_ + assumptions_.switch_delay_ps);
  }
}

/// From now on the node forwards what comes in over this edge.
void Engine::adopt(Flow& flow, std::uint32_t node, std::uint32_t edge_index) {
  const Running& running = running_[flow.collective];
  const Tree& tree = *running.what->tree;
  const Incoming packet = side(flow, edge_index, Direction::down).current;
  NodeState& state = flow.nodes[node];
  state.source = edge_index;
  state.source_attempt = packet.attempt;
  for (const std::uint32_t edge : tree.down_edges(node)) {
    if (gets_result(running, tree.edges[edge].child)) begin_attempt(flow, edge, Direction::down);
  }
  forward(flow, node, packet, std::max(now_, packet.head + assumptions_.switch_delay_ps));
}

/// Cut-through: each copy that comes in goes out as one copy over each channel.
void Engine::forward(Flow& flow, std::uint32_t node, const Incoming& packet, Time start) {
  const Running& running = running_[flow.collective];
  const Tree& tree = *running.what->tree;
  for (const std::uint32_t edge_index : tree.down_edges(node)) {
    const TreeEdge& edge = tree.edges[edge_index];
    if (!gets_result(running, edge.child)) continue;
    Side& from = side(flow, edge_index, Direction::down);
    bool lost = false;
    for (std::uint8_t channel = 0; channel < edge.channels; ++channel) {
      Incoming out = packet;
      out.edge = edge_index;
      out.attempt = from.attempt;
      out.channel = channel;
      out.expected = static_cast<std::uint8_t>(packet.expected * edge.channels);
      reserve(out, start, packet.tail + assumptions_.switch_delay_ps, packet.fate != Fate::good);
      if (packet.fate == Fate::good) ++from.good_sent;
      lost |= out.fate == Fate::lost;
      deliver(out);
    }
    if (lost) arm_timer(packet.flow, edge_index, Direction::down);
  }
}

void Engine::forward_stored(std::uint32_t flow_index, std::uint32_t node) {
  Flow& flow = flows_[flow_index];
  const Running& running = running_[flow.collective];
  const Tree& tree = *running.what->tree;
  flow.nodes[node].forwarded_good = true;
  for (const std::uint32_t edge : tree.down_edges(node)) {
    if (gets_result(running, tree.edges[edge].child)) {
      send_whole(flow_index, edge, Direction::down, now_, flow.nodes[node].result);
    }
  }
}

/// The copies that a link below carries beyond those that came in, as a transmission of their own.
void Engine::top_up(std::uint32_t flow_index, std::uint32_t node, const TreeEdge& in) {
  Flow& flow = flows_[flow_index];
  const Running& running = running_[flow.collective];
  const Tree& tree = *running.what->tree;
  for (const std::uint32_t edge_index : tree.down_edges(node)) {
    const TreeEdge& edge = tree.edges[edge_index];
    if (!gets_result(running, edge.child)) continue;
    const int good = side(flow, edge_index, Direction::down).good_sent / edge.channels;
    const int extra = scheme_.regenerate ? edge.copies - good : edge.copies - in.copies;
    if (extra > 0) {
      begin_attempt(flow, edge_index, Direction::down);
      send_copies(flow_index, edge_index, Direction::down, now_, flow.nodes[node].result,
                  static_cast<std::uint32_t>(extra));
    }
  }
}

void Engine::tail_down(const Incoming& packet) {
  Flow& flow = flows_[packet.flow];
  const Tree& tree = tree_of(flow);
  const TreeEdge& edge = tree.edges[packet.edge];
  Side& to = side(flow, packet.edge, Direction::down);
  NodeState& state = flow.nodes[edge.child];
  to.active = false;
  const bool over = note_arrival(to, packet);
  if (packet.fate == Fate::good) {
    if (state.holds_result) ++counts_[Count::duplicates];
    const bool first = !state.holds_result;
    if (first) {
      state.holds_result = true;
      state.result = packet.value;
    }
    if (to.answered != packet.attempt) answer(packet, true);
    if (state.source == packet.edge && state.source_attempt == packet.attempt) state.forwarded_good = true;
    if (first && tree.is_host(edge.child)) {
      host_done(flow, edge.child, packet.value);
    } else if (first && state.source == none) {
      forward_stored(packet.flow, edge.child);
    }
  }
  if (over) attempt_over(packet);
}

/// All copies of a transmission have come in.
void Engine::attempt_over(const Incoming& packet) {
  Flow& flow = flows_[packet.flow];
  const Tree& tree = tree_of(flow);
  const TreeEdge& edge = tree.edges[packet.edge];
  const std::uint32_t node = edge.child;
  Side& to = side(flow, packet.edge, Direction::down);
  NodeState& state = flow.nodes[node];
  if (state.holds_result) {
    if (to.answered != packet.attempt) answer(packet, true);
  } else if (to.hit_here) {
    answer(packet, false);
  }
  if (tree.is_host(node) || state.source != packet.edge || state.source_attempt != packet.attempt) return;
  if (state.holds_result) {
    if (!state.forwarded_good) return forward_stored(packet.flow, node);
    return top_up(packet.flow, node, edge);
  }
  state.source = none;
  for (std::uint32_t i = 0; i < tree.nodes[node].up_count; ++i) {
    const std::uint32_t other = tree.nodes[node].first_up + i;
    const Side& in = side(flow, other, Direction::down);
    if (in.active && in.current.tail > now_) return adopt(flow, node, other);
  }
}

/// Whether a host's result is right; of floating point also whether it is the one that others got.
void Engine::judge(Flow& flow, std::uint32_t node, const Value& value) {
  Running& running = running_[flow.collective];
  const Collective& what = *running.what;
  const Value right = what.total.in(flow.segment);
  bool is_good = true;
  if (what.operand == Operand::integer) {
    for (std::uint32_t i = 0; i < flow.words; ++i)
      is_good = is_good && value.words[i] + value.shift == right.words[i] + right.shift;
  } else {
    const std::span words(value.words, flow.words);
    is_good = is_right(what.operand, words, right.words, what.tolerances);
    std::uint64_t digest = 0x9e3779b97f4a7c15;
    for (const std::uint64_t word : words) digest = (std::rotl(digest, 5) ^ word) * 0x2545f4914f6cdd1d;
    if (flow.digest == 0) flow.digest = digest;
    running.outcome.split = running.outcome.split || digest != flow.digest;
    if (node == 0) running.outcome.digest = std::rotl(running.outcome.digest, 7) ^ digest;
  }
  flow.right = flow.right && is_good;
  if (!flow.right) return;
  flow.verified = value.words;
  flow.verified_shift = value.shift;
}

void Engine::host_done(Flow& flow, std::uint32_t node, const Value& value) {
  Running& running = running_[flow.collective];
  const Time done = now_ + assumptions_.adapter_delay_ps;
  running.host_done[node] = std::max(running.host_done[node], done);
  if (running.what->operation == Operation::reduce && node != running.what->host) return;
  if (value.words != flow.verified || value.shift != flow.verified_shift || node == 0) judge(flow, node, value);
  running.outcome.last_host_ps = std::max(running.outcome.last_host_ps, done - base_ - running.what->start_ps);
  if (--flow.hosts_left == 0 && --running.flows_left == 0) --collectives_left_;
}

}  // namespace holdfast::simulate::collective
