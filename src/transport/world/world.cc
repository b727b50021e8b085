#include "transport/world/world.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>

#include "core/random/stream.h"
#include "transport/world/event_queue.h"
#include "transport/world/network.h"
#include "transport/world/oracle.h"

namespace holdfast::transport {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr unsigned untagged_flow = 100;
constexpr std::size_t guard_bytes = 16;
constexpr std::byte guard{0xA5};
constexpr std::byte after_end{0xCC};

Oracle::End end_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return Oracle::End::good;
    case Outcome::truncated:
      return Oracle::End::cut;
    case Outcome::canceled:
      return Oracle::End::canceled;
    default:
      return Oracle::End::failed;
  }
}

// Memory of the application, cut into up to three pieces at random.
std::vector<iovec> cut(std::byte* memory, std::size_t bytes, random::Stream& draw) {
  std::vector<iovec> pieces;
  const std::uint64_t wanted = 1 + draw.below(3);
  while (pieces.size() + 1 < wanted && bytes > 1) {
    const std::size_t here = draw.below(bytes);
    pieces.push_back({memory, here});
    memory += here;
    bytes -= here;
  }
  pieces.push_back({memory, bytes});
  return pieces;
}

struct Sending {
  Oracle::MessageId id = 0;
  std::vector<std::byte> memory;
  bool ended = false;
};

struct Receiving {
  Oracle::ReceiveId id = 0;
  unsigned flow = 0;
  bool multi = false;
  bool drain = false;
  bool ended = false;
  bool claimed = false;
  std::size_t capacity = 0;
  std::vector<std::byte> memory;  ///< with guards on both sides
  std::byte* begin() { return memory.data() + guard_bytes; }
};

class World;

/// A process on a node: one life of it.
class Process : public Host {
 public:
  Process(World& world, unsigned node, unsigned life, std::uint64_t epoch);

  Put put(std::uint32_t rail, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) override;
  void complete(const Completion& completion) override;
  PeerId peer_named(std::span<const std::byte> name, std::uint32_t rail) override;
  std::byte* memory(std::uint64_t, std::uint64_t, std::size_t, Access) override { return nullptr; }
  bool apply_atomic(std::uint64_t, std::byte*, std::size_t, std::span<const std::byte>, std::byte*) override {
    return false;
  }

  void send(unsigned to, random::Stream& draw);
  void post_receive(unsigned flow, PeerId peer, std::size_t capacity, bool multi, bool drain, random::Stream& draw);
  void claim(unsigned flow, random::Stream& draw);
  void cancel_one(random::Stream& draw);
  void cancel_all();
  void check_memory();
  bool sends_ended() const;

  World& world_;
  unsigned node_;
  unsigned life_;
  std::uint64_t epoch_;
  std::unique_ptr<Engine> engine_;
  std::deque<Sending> sends_;
  std::deque<Receiving> receives_;
  std::vector<std::pair<unsigned, unsigned>> drains_used_;  ///< flows whose drain receive has ended
  bool closing_ = false;

 private:
  void send_completed(const Completion& completion);
  void receive_completed(const Completion& completion);
  ReceiveRequest request_for(const Receiving& receiving, std::size_t index, PeerId peer) const;
  void end_receive(Receiving& receiving);
};

class World {
 public:
  World(std::uint64_t seed, Engine::Sabotage sabotage);
  Verdict run();

  const Plan& plan() const { return plan_; }
  Oracle& oracle() { return oracle_; }
  Network& network() { return network_; }
  Engine::Sabotage sabotage() const { return sabotage_; }
  std::int64_t clock(unsigned node) const { return queue_.now() + nodes_[node].offset_ns; }
  // A process numbers its peers in a way of its own.
  PeerId peer_id(unsigned node, unsigned other) const { return (other + node) % plan_.nodes; }
  unsigned node_of(unsigned node, PeerId peer) const { return (peer + plan_.nodes - node) % plan_.nodes; }

 private:
  struct Node {
    std::unique_ptr<Process> process;
    unsigned life = 0;
    std::int64_t offset_ns = 1'000'000'000'000;
    std::int64_t wake_ns = INT64_MAX;
    std::int64_t stopped_until_ns = 0;
    std::deque<std::pair<unsigned, std::vector<std::byte>>> inbox;
  };

  void begin_life(unsigned node, std::uint64_t epoch);
  void restart(unsigned node, bool close);
  void schedule_work();
  void schedule_events();
  void happen(const Event& event);
  void kill_rail(const Event& event, bool both_ways);
  void arrive(unsigned node, unsigned rail, const std::vector<std::byte>& packet);
  void tick(unsigned node);
  void wake(unsigned node);
  void plan_wake(unsigned node);
  bool stopped(unsigned node) const { return nodes_[node].stopped_until_ns > queue_.now(); }
  bool quiet() const;
  void post_drains();
  void finish();

  Plan plan_;
  Engine::Sabotage sabotage_;
  random::Stream work_;
  EventQueue queue_;
  Oracle oracle_;
  std::vector<Node> nodes_;
  Network network_;
  std::vector<std::unique_ptr<Process>> dead_;  ///< whose memory packets may still name
  std::int64_t last_event_ns_ = 0;
  Counters counters_;
};

Process::Process(World& world, unsigned node, unsigned life, std::uint64_t epoch)
    : world_(world), node_(node), life_(life), epoch_(epoch) {
  std::vector<RailTraits> rails;
  for (const RailPlan& rail : world.plan().rails) {
    rails.push_back({.most_packet_bytes = rail.most_packet_bytes,
                     .bytes_per_second = static_cast<double>(rail.link.bytes_per_us) * 1e6,
                     .checksum = {}});
  }
  const auto name = static_cast<std::byte>(node);
  engine_ = std::make_unique<Engine>(world.plan().options, rails, *this, std::span(&name, 1), epoch, world.clock(node));
  engine_->sabotage(world.sabotage());
}

Put Process::put(std::uint32_t rail, PeerId peer, std::span<const iovec> pieces, std::uint64_t token) {
  return world_.network().put(rail, node_, life_, world_.node_of(node_, peer), pieces, token);
}

PeerId Process::peer_named(std::span<const std::byte> name, std::uint32_t) {
  if (name.size() != 1 || std::to_integer<unsigned>(name[0]) >= world_.plan().nodes) return any_peer;
  return world_.peer_id(node_, std::to_integer<unsigned>(name[0]));
}

// The tag of a message is its flow and its number; receives look at the flow. An untagged one has its number as data.
void Process::send(unsigned to, random::Stream& draw) {
  const Plan& plan = world_.plan();
  const bool tagged = draw.chance(3, 4);
  const unsigned flow = tagged ? static_cast<unsigned>(draw.below(plan.flows)) : untagged_flow;
  std::size_t bytes = draw.chance(1, 10) ? 0 : draw.below(plan.most_bytes + 1);
  if (draw.chance(1, 3)) bytes = std::min<std::size_t>(bytes, 100);
  const bool buffered = draw.chance(1, 2) && bytes <= plan.options.log_bytes;
  const bool silent = draw.chance(1, 4);
  sends_.emplace_back();
  Sending& sending = sends_.back();
  sending.id = world_.oracle().sending(node_, to, flow, bytes, buffered, silent);
  sending.memory.resize(bytes);
  Oracle::fill(sending.id, sending.memory);
  const std::vector<iovec> pieces = cut(sending.memory.data(), bytes, draw);
  SendRequest request;
  request.peer = world_.peer_id(node_, to);
  request.pieces = pieces;
  request.mode = buffered ? SendMode::buffered : SendMode::acknowledged;
  request.tagged = tagged;
  request.tag = std::uint64_t{flow} << 32 | sending.id;
  request.has_data = !tagged || draw.chance(1, 2);
  request.data = sending.id;
  request.silent = silent;
  request.context = reinterpret_cast<void*>(sends_.size());  // its index, and one
  const Posted posted = engine_->send(request, world_.clock(node_));
  if (posted == Posted::invalid) world_.oracle().complain("a send was called invalid");
  if (posted != Posted::accepted) {
    world_.oracle().send_refused(sending.id);
    sending.ended = true;
  }
  if (buffered || posted != Posted::accepted) {
    std::fill(sending.memory.begin(), sending.memory.end(), after_end);
    std::vector<std::byte>().swap(sending.memory);
  }
  if (silent) sending.ended = true;
}

ReceiveRequest Process::request_for(const Receiving& receiving, std::size_t index, PeerId peer) const {
  ReceiveRequest request;
  request.peer = peer;
  request.tagged = receiving.flow != untagged_flow;
  request.multi = receiving.multi;
  request.tag = std::uint64_t{receiving.flow} << 32;
  request.ignore = 0xFFFFFFFF;
  request.least_bytes = 64;
  request.context = reinterpret_cast<void*>(index + 1);
  return request;
}

void Process::post_receive(unsigned flow, PeerId peer, std::size_t capacity, bool multi, bool drain,
                           random::Stream& draw) {
  receives_.emplace_back();
  Receiving& receiving = receives_.back();
  receiving.flow = flow;
  receiving.multi = multi;
  receiving.drain = drain;
  receiving.capacity = capacity;
  receiving.memory.assign(capacity + 2 * guard_bytes, guard);
  receiving.id = world_.oracle().posting(node_, multi);
  const std::vector<iovec> pieces =
      multi ? std::vector<iovec>{{receiving.begin(), capacity}} : cut(receiving.begin(), capacity, draw);
  ReceiveRequest request = request_for(receiving, receives_.size() - 1, peer);
  request.pieces = pieces;
  if (engine_->receive(request, world_.clock(node_)) != Posted::accepted) {
    world_.oracle().complain("a receive was refused");
  }
}

// Looks for a message, sets it aside, and takes it or throws it away.
void Process::claim(unsigned flow, random::Stream& draw) {
  Receiving probe;
  probe.flow = flow;
  ReceiveRequest request = request_for(probe, receives_.size(), any_peer);
  const std::optional<Waiting> waiting = engine_->peek(request, true, world_.clock(node_));
  if (!waiting) return;
  const std::size_t index = receives_.size();
  receives_.emplace_back();
  Receiving& receiving = receives_.back();
  receiving.flow = flow;
  receiving.claimed = true;
  receiving.capacity = waiting->bytes;
  receiving.memory.assign(waiting->bytes + 2 * guard_bytes, guard);
  receiving.id = world_.oracle().posting(node_, false);
  const std::vector<iovec> pieces = cut(receiving.begin(), receiving.capacity, draw);
  request = request_for(receiving, index, any_peer);
  request.pieces = pieces;
  if (engine_->receive_claimed(request, world_.clock(node_)) != Posted::accepted) {
    world_.oracle().complain("a claimed message was not there");
  }
}

void Process::cancel_one(random::Stream& draw) {
  if (receives_.empty()) return;
  const std::size_t index = draw.below(receives_.size());
  if (!receives_[index].ended) engine_->cancel(reinterpret_cast<void*>(index + 1), world_.clock(node_));
}

void Process::cancel_all() {
  closing_ = true;
  for (std::size_t index = 0; index < receives_.size(); ++index) {
    if (!receives_[index].ended) engine_->cancel(reinterpret_cast<void*>(index + 1), world_.clock(node_));
  }
}

void Process::complete(const Completion& completion) {
  switch (completion.kind) {
    case Completion::Kind::send:
      send_completed(completion);
      break;
    case Completion::Kind::receive:
      receive_completed(completion);
      break;
    case Completion::Kind::lost:
      world_.oracle().lost(node_, world_.node_of(node_, completion.peer), completion.message_bytes);
      break;
    default:
      world_.oracle().complain("a completion of a kind that nobody asked for");
  }
}

void Process::send_completed(const Completion& completion) {
  const std::size_t index = reinterpret_cast<std::size_t>(completion.context) - 1;
  if (index >= sends_.size()) return world_.oracle().complain("a send completion without a send");
  Sending& sending = sends_[index];
  world_.oracle().send_ended(sending.id, end_of(completion.outcome));
  sending.ended = true;
  // The memory is the application's again; after an error packets that wait may still read it.
  if (completion.outcome == Outcome::ok) std::fill(sending.memory.begin(), sending.memory.end(), after_end);
}

void Process::receive_completed(const Completion& completion) {
  const std::size_t index = reinterpret_cast<std::size_t>(completion.context) - 1;
  if (index >= receives_.size()) return world_.oracle().complain("a receive completion without a receive");
  Receiving& receiving = receives_[index];
  const Oracle::End end = end_of(completion.outcome);
  if (receiving.ended) world_.oracle().complain("a receive completed after it had released its buffer");
  if (end == Oracle::End::good || end == Oracle::End::cut) {
    const auto id = static_cast<Oracle::MessageId>(completion.tagged ? completion.tag : completion.data);
    std::byte* begin = receiving.multi ? completion.buffer : receiving.begin();
    const std::size_t place = static_cast<std::size_t>(begin - receiving.begin());
    if (receiving.multi && (begin == nullptr || place + completion.bytes > receiving.capacity)) {
      return world_.oracle().complain("a message is said to be outside its buffer");
    }
    world_.oracle().received(receiving.id, id, world_.node_of(node_, completion.peer), {begin, completion.bytes},
                             completion.message_bytes, end, place);
  } else if (!receiving.multi || completion.released) {
    world_.oracle().receive_ended(receiving.id, end);
    end_receive(receiving);
    return;
  }
  if (completion.released != !receiving.multi && !receiving.multi) {
    world_.oracle().complain("a receive kept its buffer");
  }
  if (!completion.released) return;
  world_.oracle().receive_released(receiving.id);
  end_receive(receiving);
}

void Process::end_receive(Receiving& receiving) {
  receiving.ended = true;
  for (std::size_t i = 0; i < guard_bytes; ++i) {
    if (receiving.memory[i] != guard || receiving.memory[guard_bytes + receiving.capacity + i] != guard) {
      world_.oracle().complain("memory beside a receive's was written");
      break;
    }
  }
  std::fill(receiving.memory.begin(), receiving.memory.end(), after_end);
  if (receiving.drain) drains_used_.emplace_back(receiving.flow, receiving.multi ? 1 : 0);
}

// Nothing may have been written into memory that was given back.
void Process::check_memory() {
  for (const Receiving& receiving : receives_) {
    if (!receiving.ended) continue;
    if (std::any_of(receiving.memory.begin(), receiving.memory.end(),
                    [](std::byte byte) { return byte != after_end; })) {
      world_.oracle().complain("the memory of receive " + std::to_string(receiving.id) + " was written after its end");
    }
  }
}

bool Process::sends_ended() const {
  return std::all_of(sends_.begin(), sends_.end(), [](const Sending& sending) { return sending.ended; });
}

World::World(std::uint64_t seed, Engine::Sabotage sabotage)
    : plan_(draw_plan(seed)),
      sabotage_(sabotage),
      work_(random::Stream(seed).child("work")),
      oracle_(plan_.errors_allowed),
      nodes_(plan_.nodes),
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
                .complain = [this](const char* what) { oracle_.complain(what); }}) {}

void World::begin_life(unsigned node, std::uint64_t epoch) {
  nodes_[node].process = std::make_unique<Process>(*this, node, nodes_[node].life, epoch);
  plan_wake(node);
}

void World::restart(unsigned node, bool close) {
  Node& here = nodes_[node];
  const std::uint64_t epoch = here.process->epoch_;
  here.process->closing_ = true;
  if (close) here.process->engine_->close(clock(node));
  counters_ += here.process->engine_->counters();
  here.process->check_memory();
  oracle_.restarted(node);
  ++here.life;
  here.inbox.clear();
  dead_.push_back(std::move(here.process));
  dead_.back()->engine_.reset();
  // A machine may come back with its clock set back.
  const bool back = work_.chance(1, 3);
  begin_life(node, back ? epoch / 2 + 1 : epoch + 1'000'000'000);
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

void World::schedule_events() {
  for (const Event& event : plan_.events) {
    queue_.at(event.at_ns, [this, &event] { happen(event); });
    const std::int64_t repeats = event.kind == Event::Kind::rail_flaps ? 2 * event.times : 1;
    const bool lasts = event.kind != Event::Kind::clock_jumps;
    last_event_ns_ = std::max(last_event_ns_, event.at_ns + (lasts ? event.duration_ns : 0) * repeats);
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
  for (const Node& node : nodes_) {
    if (!node.process->engine_->idle() || !node.process->sends_ended() || !node.process->drains_used_.empty())
      return false;
  }
  return true;
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
    }
  }
  for (unsigned node = 0; node < plan_.nodes; ++node) nodes_[node].process->cancel_all();
  queue_.run_until(queue_.now() + 50 * ms);
  for (unsigned node = 0; node < plan_.nodes; ++node) {
    Process& process = *nodes_[node].process;
    process.check_memory();
    if (const std::size_t objects = process.engine_->objects_in_use(); objects > 0 && oracle_.complaints().empty()) {
      oracle_.complain(std::to_string(objects) + " objects of node " + std::to_string(node) + " were never given back");
    }
    counters_ += process.engine_->counters();
  }
  if (oracle_.complaints().empty()) oracle_.judge();
}

Verdict World::run() {
  for (unsigned node = 0; node < plan_.nodes; ++node) {
    begin_life(node, 1'000'000'000'000 + node);
    tick(node);
  }
  schedule_work();
  schedule_events();
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
  verdict.packets = network_.packets();
  verdict.events = queue_.done();
  verdict.duration_ns = queue_.now();
  verdict.counters = counters_;
  return verdict;
}

}  // namespace

Verdict run_world(std::uint64_t seed, Engine::Sabotage sabotage) {
  return World(seed, sabotage).run();
}

}  // namespace holdfast::transport
