#include "transport/world/world.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "core/random/stream.h"
#include "transport/world/enemy.h"
#include "transport/world/event_queue.h"
#include "transport/world/network.h"
#include "transport/world/oracle.h"
#include "transport/world/process.h"
#include "transport/world/remote_oracle.h"

namespace holdfast::transport {
namespace {

constexpr std::int64_t ms = 1'000'000;
class World final : public Surroundings {
 public:
  explicit World(std::uint64_t seed);
  Verdict run();

  const Plan& plan() const override { return plan_; }
  Oracle& oracle() override { return oracle_; }
  RemoteOracle& remote_oracle() override { return remote_oracle_; }
  Network& network() override { return network_; }
  std::int64_t clock(unsigned node) const override { return queue_.now() + nodes_[node].offset_ns; }
  OpenMemory& open_memory(unsigned node) override { return nodes_[node].process->open_memory_; }

 private:
  struct Node {
    std::unique_ptr<Process> process;
    unsigned life = 0;
    std::int64_t offset_ns = 1'000'000'000'000;
    std::int64_t wake_ns = INT64_MAX;
    std::int64_t stopped_until_ns = 0;
    std::deque<std::pair<unsigned, std::vector<std::byte>>> inbox;
  };

  void begin_life(unsigned node);
  void restart(unsigned node, bool close);
  void schedule_work();
  void schedule_remote();
  void schedule_events();
  void schedule_enemy();
  void happen(const Event& event);
  void kill_rail(const Event& event, bool both_ways);
  void arrive(unsigned node, unsigned rail, const std::vector<std::byte>& packet);
  void tick(unsigned node);
  void wake(unsigned node);
  void plan_wake(unsigned node);
  bool stopped(unsigned node) const { return nodes_[node].stopped_until_ns > queue_.now(); }
  bool quiet() const;
  bool puts_pending() const;
  void post_drains();
  void finish();

  Plan plan_;
  random::Stream work_;
  EventQueue queue_;
  Oracle oracle_;
  RemoteOracle remote_oracle_;
  std::vector<Node> nodes_;
  Enemy enemy_;
  Network network_;
  std::vector<std::unique_ptr<Process>> dead_;  ///< whose memory packets may still name
  std::int64_t last_event_ns_ = 0;
  Counters counters_;
};

World::World(std::uint64_t seed)
    : plan_(draw_plan(seed)),
      work_(random::Stream(seed).child("work")),
      oracle_(plan_.errors_allowed),
      remote_oracle_(plan_, oracle_),
      nodes_(plan_.nodes),
      enemy_(plan_, random::Stream(seed).child("enemy")),
      network_(plan_, queue_, random::Stream(seed).child("network"),
               {.arrived = [this](unsigned node, unsigned rail,
                                  const std::vector<std::byte>& packet) { arrive(node, rail, packet); },
                .put_done =
                    [this](unsigned node, unsigned life, std::uint64_t token, bool ok) {
                      if (nodes_[node].life != life) return;
                      nodes_[node].process->engine_->on_put_done(token, ok, clock(node));
                      plan_wake(node);
                    },
                .ready =
                    [this](unsigned node, unsigned rail) {
                      if (stopped(node)) return;
                      nodes_[node].process->engine_->on_rail_ready(rail, clock(node));
                      plan_wake(node);
                    },
                .alive = [this](unsigned node, unsigned life) { return nodes_[node].life == life; },
                .complain = [this](const char* what) { oracle_.complain(what); },
                .overheard = [this](unsigned rail, unsigned from, unsigned to,
                                    const std::vector<std::byte>& packet) { enemy_.hear(rail, from, to, packet); }}) {}

void World::begin_life(unsigned node) {
  nodes_[node].process = std::make_unique<Process>(*this, node, nodes_[node].life);
  plan_wake(node);
}

void World::restart(unsigned node, bool close) {
  Node& here = nodes_[node];
  here.process->closing_ = true;
  if (close) here.process->engine_->close(clock(node));
  counters_ += here.process->engine_->counters();
  here.process->check_memory();
  oracle_.restarted(node);
  remote_oracle_.restarted(node);
  ++here.life;
  here.inbox.clear();
  dead_.push_back(std::move(here.process));
  dead_.back()->engine_.reset();
  begin_life(node);
}

void World::plan_wake(unsigned node) {
  Node& here = nodes_[node];
  const std::int64_t deadline = here.process->engine_->next_deadline();
  if (deadline == Engine::no_deadline) return;
  const std::int64_t when = std::max({queue_.now() + 1, deadline - here.offset_ns, here.stopped_until_ns});
  if (when >= here.wake_ns && here.wake_ns > queue_.now()) return;
  here.wake_ns = when;
  queue_.at(when, [this, node, when] {
    if (nodes_[node].wake_ns == when) wake(node);
  });
}

void World::wake(unsigned node) {
  Node& here = nodes_[node];
  here.wake_ns = INT64_MAX;
  if (!stopped(node)) {
    while (!here.inbox.empty()) {
      const auto [rail, packet] = std::move(here.inbox.front());
      here.inbox.pop_front();
      here.process->engine_->on_packet(rail, packet, clock(node));
    }
    here.process->engine_->advance(clock(node));
    here.process->engine_->sum_ahead();
  }
  plan_wake(node);
}

// A progress thread looks in now and then, whatever the deadlines are.
void World::tick(unsigned node) {
  wake(node);
  queue_.at(queue_.now() + 5 * ms, [this, node] { tick(node); });
}

void World::arrive(unsigned node, unsigned rail, const std::vector<std::byte>& packet) {
  Node& here = nodes_[node];
  if (stopped(node)) {
    if (here.inbox.size() < 1000) here.inbox.emplace_back(rail, packet);
    return;
  }
  here.process->engine_->on_packet(rail, packet, clock(node));
  plan_wake(node);
}

void World::schedule_work() {
  for (unsigned i = 0; i < plan_.messages; ++i) {
    random::Stream draw = work_.child("message").child(i);
    const auto from = static_cast<unsigned>(draw.below(plan_.nodes));
    const unsigned to = (from + 1 + static_cast<unsigned>(draw.below(plan_.nodes - 1))) % plan_.nodes;
    const auto when = static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(plan_.work_ns)));
    queue_.at(when, [this, from, to, draw]() mutable {
      nodes_[from].process->send(to, draw);
      plan_wake(from);
    });
    if (draw.chance(1, 5)) continue;  // left to the end
    const auto posted = static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(plan_.work_ns)));
    queue_.at(posted, [this, from, to, draw = work_.child("receive").child(i)]() mutable {
      Process& process = *nodes_[to].process;
      const bool multi = draw.chance(1, 8);
      const unsigned flow = multi || draw.chance(1, 4) ? untagged_flow : static_cast<unsigned>(draw.below(plan_.flows));
      const std::uint64_t what = draw.below(20);
      if (what == 0) {
        process.cancel_one(draw);
      } else if (what == 1 && !multi) {
        process.claim(flow, draw);
      } else {
        const PeerId peer = draw.chance(1, 2) ? any_peer : peer_id(to, from);
        const std::size_t capacity = draw.chance(1, 6) ? draw.below(plan_.most_bytes + 1) : plan_.most_bytes;
        process.post_receive(flow, peer, multi ? 4 * plan_.most_bytes + 64 : capacity, multi, false, draw);
      }
      plan_wake(to);
    });
  }
}

void World::schedule_remote() {
  for (std::size_t index = 0; index < plan_.remote.size(); ++index) {
    const RemoteOperation& operation = plan_.remote[index];
    queue_.at(operation.at_ns, [this, index, from = operation.from] {
      nodes_[from].process->reach(index);
      plan_wake(from);
    });
  }
}

void World::schedule_events() {
  for (const Event& event : plan_.events) {
    queue_.at(event.at_ns, [this, &event] { happen(event); });
    const std::int64_t repeats = event.kind == Event::Kind::rail_flaps ? 2 * event.times : 1;
    const bool lasts = event.kind != Event::Kind::clock_jumps;
    last_event_ns_ = std::max(last_event_ns_, event.at_ns + (lasts ? event.duration_ns : 0) * repeats);
  }
}

void World::schedule_enemy() {
  random::Stream draw = work_.child("enemy");
  for (unsigned i = 0; i < plan_.strikes; ++i) {
    queue_.at(static_cast<std::int64_t>(draw.below(static_cast<std::uint64_t>(plan_.work_ns))), [this] {
      const Enemy::Packet packet = enemy_.strike();
      arrive(packet.to, packet.rail, packet.bytes);
    });
  }
}

void World::kill_rail(const Event& event, bool both_ways) {
  network_.set_dead(event.rail, event.node, event.peer, true, event.loud);
  if (both_ways) network_.set_dead(event.rail, event.peer, event.node, true, event.loud);
}

void World::happen(const Event& event) {
  const auto revive = [this, event] {
    network_.set_dead(event.rail, event.node, event.peer, false, false);
    network_.set_dead(event.rail, event.peer, event.node, false, false);
  };
  switch (event.kind) {
    case Event::Kind::outage:
      for (Event each = event; each.rail < plan_.rails.size(); ++each.rail) {
        kill_rail(each, true);
        queue_.at(queue_.now() + event.duration_ns, [this, each] {
          network_.set_dead(each.rail, each.node, each.peer, false, false);
          network_.set_dead(each.rail, each.peer, each.node, false, false);
        });
      }
      break;
    case Event::Kind::rail_dies:
    case Event::Kind::rail_one_way:
      kill_rail(event, event.kind == Event::Kind::rail_dies);
      queue_.at(queue_.now() + event.duration_ns, revive);
      break;
    case Event::Kind::rail_flaps:
      for (unsigned i = 0; i < event.times; ++i) {
        queue_.at(queue_.now() + 2 * i * event.duration_ns, [this, event] { kill_rail(event, true); });
        queue_.at(queue_.now() + (2 * i + 1) * event.duration_ns, revive);
      }
      break;
    case Event::Kind::rail_reported:
      kill_rail(event, true);
      queue_.at(queue_.now() + event.duration_ns, revive);
      if (!stopped(event.node)) {
        nodes_[event.node].process->engine_->on_rail_failed(event.rail, peer_id(event.node, event.peer),
                                                            clock(event.node));
      }
      break;
    case Event::Kind::rail_narrows:
      for (const bool both : {false, true}) {
        const unsigned from = both ? event.peer : event.node;
        const unsigned to = both ? event.node : event.peer;
        network_.set_longest(event.rail, from, to, event.bytes);
        queue_.at(queue_.now() + event.duration_ns,
                  [this, rail = event.rail, from, to] { network_.set_longest(rail, from, to, 0); });
      }
      break;
    case Event::Kind::rail_keeps:
      network_.set_keeping(event.rail, event.node, event.peer, true);
      queue_.at(queue_.now() + event.duration_ns,
                [this, event] { network_.set_keeping(event.rail, event.node, event.peer, false); });
      break;
    case Event::Kind::rail_doubted:
      for (unsigned i = 0; i < event.times; ++i) {
        queue_.at(queue_.now() + i * event.duration_ns / event.times, [this, event] {
          if (stopped(event.node)) return;
          nodes_[event.node].process->engine_->on_rail_doubted(event.rail, peer_id(event.node, event.peer),
                                                               clock(event.node));
          plan_wake(event.node);
        });
      }
      break;
    case Event::Kind::rail_returns:
      revive();
      break;
    case Event::Kind::node_stops:
      nodes_[event.node].stopped_until_ns =
          std::max(nodes_[event.node].stopped_until_ns, queue_.now() + event.duration_ns);
      break;
    case Event::Kind::node_restarts:
    case Event::Kind::node_closes:
      restart(event.node, event.kind == Event::Kind::node_closes);
      break;
    case Event::Kind::clock_jumps:
      nodes_[event.node].offset_ns += event.duration_ns;
      break;
  }
  wake(event.node);
}

// Receives for everything that comes and that nobody has taken.
void World::post_drains() {
  for (unsigned node = 0; node < plan_.nodes; ++node) {
    Process& process = *nodes_[node].process;
    for (unsigned flow = 0; flow <= plan_.flows; ++flow) {
      for (int i = 0; i < 3; ++i) {
        process.drains_used_.emplace_back(flow == plan_.flows ? untagged_flow : flow, 0);
      }
    }
  }
}

bool World::quiet() const {
  for (unsigned node = 0; node < plan_.nodes; ++node) {
    const Process& process = *nodes_[node].process;
    if (!process.engine_->idle() || !process.sends_ended() || !process.drains_used_.empty()) return false;
    if (!remote_oracle_.ended_all(node)) return false;
  }
  return oracle_.partings_mutual();
}

bool World::puts_pending() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const Node& node) { return node.process->engine_->pending_puts() > 0; });
}

void World::finish() {
  post_drains();
  int quiet_times = 0;
  const std::int64_t limit = queue_.now() + 60'000 * ms;
  while (quiet_times < 4 && queue_.now() < limit && oracle_.complaints().empty()) {
    for (unsigned node = 0; node < plan_.nodes; ++node) {
      Process& process = *nodes_[node].process;
      for (const auto& [flow, multi] : std::exchange(process.drains_used_, {})) {
        process.post_receive(flow, any_peer, plan_.most_bytes, false, true, work_);
        plan_wake(node);
      }
    }
    queue_.run_until(queue_.now() + 20 * ms);
    quiet_times = quiet() ? quiet_times + 1 : 0;
  }
  if (quiet_times < 4 && oracle_.complaints().empty()) {
    oracle_.complain("no end was reached: something waits for ever");
    for (unsigned node = 0; node < plan_.nodes; ++node) {
      const Process& process = *nodes_[node].process;
      if (!process.engine_->idle()) oracle_.complain("node " + std::to_string(node) + " has messages to send");
      if (!process.sends_ended()) oracle_.complain("node " + std::to_string(node) + " waits for sends to end");
      if (!remote_oracle_.ended_all(node)) {
        oracle_.complain("node " + std::to_string(node) + " waits for remote operations to end");
      }
    }
  }
  for (unsigned node = 0; node < plan_.nodes; ++node) nodes_[node].process->cancel_all();
  queue_.run_until(queue_.now() + 50 * ms);
  // A probe may just be leaving; it holds a packet until it has.
  for (int i = 0; i < 1000 && puts_pending(); ++i) queue_.run_until(queue_.now() + ms / 100);
  for (unsigned node = 0; node < plan_.nodes; ++node) {
    Process& process = *nodes_[node].process;
    process.check_memory();
    if (const std::size_t objects = process.engine_->objects_in_use(); objects > 0 && oracle_.complaints().empty()) {
      oracle_.complain(std::to_string(objects) + " objects of node " + std::to_string(node) + " were never given back");
    }
    counters_ += process.engine_->counters();
  }
  if (oracle_.complaints().empty()) oracle_.judge();
  if (oracle_.complaints().empty()) remote_oracle_.judge();
}

Verdict World::run() {
  for (unsigned node = 0; node < plan_.nodes; ++node) {
    begin_life(node);
    tick(node);
  }
  schedule_work();
  schedule_remote();
  schedule_events();
  schedule_enemy();
  queue_.run_until(std::max(plan_.work_ns, last_event_ns_) + 1);
  network_.heal();
  for (Node& node : nodes_) node.stopped_until_ns = 0;
  finish();
  Verdict verdict;
  verdict.seed = plan_.seed;
  verdict.complaints = oracle_.complaints();
  verdict.messages = oracle_.messages();
  verdict.delivered = oracle_.delivered();
  verdict.failed = oracle_.failed();
  verdict.remote = plan_.remote.size();
  verdict.remote_good = remote_oracle_.good();
  verdict.packets = network_.packets();
  verdict.events = queue_.done();
  verdict.duration_ns = queue_.now();
  verdict.counters = counters_;
  return verdict;
}

}  // namespace

Verdict run_world(std::uint64_t seed) {
  return World(seed).run();
}

}  // namespace holdfast::transport
